package dev.carillon.core

import org.json.JSONArray
import org.json.JSONObject

/** What a tap opens: `richlanding` (web address), `deeplinking` (URI) or `navigation` (screen). */
class Target(val type: String, val value: String)

/** A button: `type` is `call`, `snooze`, `copy` or `share`. Android shows no icons on buttons, so theirs is not loaded. */
class Button(val type: String, val name: String, val value: String)

/** A text of the app's resources, with the arguments of its placeholders. */
class LocalText(val key: String, val arguments: List<String>)

/** The two settings of the workspace on which the names of keys depend (`carillon workspaces show`). */
class MessageFormat(val pushFrom: String = "carillon", val dataPrefix: String = "svc")

/**
 * One message. This is the only file that knows the names of keys (docs/phones.md); a test compares them with what the server
 * sends. A member that is missing or malformed is treated as absent.
 */
class CarillonMessage private constructor(val data: Map<String, String>, private val prefix: String) {
    val id: String = own("message_id").orEmpty()
    val title: String = data["gcm_title"].orEmpty()
    val text: String = data["gcm_alert"].orEmpty()
    val summary: String? = data["gcm_subtext"]
    val campaignId: String? = data["gcm_campaign_id"]
    val workspaceId: String? = own("app_id")

    /** Attributes of the campaign and its run, for your analytics; the keys begin with the prefix. */
    val campaignAttributes: JSONObject = objectOf(own("cid_attr"))
    val coupon: String? = data["coupon_code"]

    /** Unix time at which an inbox of your app should drop it. */
    val inboxExpirySeconds: Long? = own("inbox_expiry")?.toLongOrNull()

    /** For the app only: nothing is shown. */
    val isSilent: Boolean = own("silent") == "1"

    /** The same for every copy of a message, so that a copy replaces it. */
    val tag: String = own("tag") ?: id
    val channel: String? = own("channel_id")
    val group: String? = own("group_key")
    val image: String? = own("image")

    /** A file in `res/raw`, used below Android 8; newer versions use the sound of the channel. */
    val sound: String? = own("sound")
    val icon: String? = own("icon")
    val color: String? = own("color")
    val visibility: String? = own("visibility")
    val isOngoing: Boolean = own("ongoing") == "1"
    val timeoutSeconds: Long? = own("timeout_s")?.toLongOrNull()

    /** Number on the icon: null leaves it, 0 clears it. */
    val badge: Int? = badgeOf(objectOf(own("badge")))
    private val texts: JSONObject = objectOf(own("loc"))
    val titleText: LocalText? = textOf("titleLocKey", "titleLocArgs")
    val bodyText: LocalText? = textOf("bodyLocKey", "bodyLocArgs")
    val buttons: List<Button> = buttonsOf(data["gcm_actions"])
    val target: Target? = data["gcm_action_type"]?.let { type ->
        data["gcm_activityName"]?.let { value -> Target(type, value) }
    }

    /** The credential of the message's receipts. */
    val reportToken: String? = own("report_token")

    /** Proves that a push token is this phone's; nothing is shown. */
    val challenge: Challenge? = own("installation_id")?.let { id -> own("challenge")?.let { Challenge(id, it) } }

    /** The caller's pairs. A pair whose name is one of Carillon's arrives as `kv_` and the name. */
    val pairs: Map<String, String> =
        data.filterKeys { key -> !isOurs(key) }.mapKeys { (key, _) -> key.removePrefix("kv_") }

    private fun own(name: String): String? = data["${prefix}_$name"]

    private fun isOurs(key: String): Boolean =
        key == "push_from" || key == "coupon_code" || key.startsWith("gcm_") || key.startsWith("${prefix}_")

    private fun badgeOf(change: JSONObject): Int? =
        when (change.optString("op")) {
            "set" -> change.optInt("value")
            "clear" -> 0
            else -> null
        }

    private fun textOf(keyName: String, argumentsName: String): LocalText? {
        val key = texts.optString(keyName)
        if (key.isEmpty()) return null
        val given = texts.optJSONArray(argumentsName) ?: JSONArray()
        return LocalText(key, (0 until given.length()).map { given.optString(it) })
    }

    private fun buttonsOf(json: String?): List<Button> {
        val list = try {
            JSONArray(json ?: "[]")
        } catch (ignored: org.json.JSONException) {
            JSONArray()
        }
        return (0 until list.length()).mapNotNull { list.optJSONObject(it) }.map {
            Button(it.optString("type"), it.optString("name"), it.optString("value"))
        }
    }

    private fun objectOf(json: String?): JSONObject =
        try {
            JSONObject(json ?: "{}")
        } catch (ignored: org.json.JSONException) {
            JSONObject()
        }

    companion object {
        /** Returns null for a message of another sender. */
        fun read(data: Map<String, String>, format: MessageFormat): CarillonMessage? {
            if (data["push_from"] != format.pushFrom) return null
            val message = CarillonMessage(data, format.dataPrefix)
            return if (message.id.isEmpty()) null else message
        }
    }
}
