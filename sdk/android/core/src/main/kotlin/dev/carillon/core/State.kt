package dev.carillon.core

import java.security.SecureRandom
import java.util.UUID
import org.json.JSONArray
import org.json.JSONObject

/** An address of this phone. `provider` is null for FCM, `type` is null for a token. */
data class PushToken(val value: String, val provider: String? = null, val type: String? = null)

/** What waits for the service. `number` identifies an item for as long as it waits; `at` is in milliseconds. */
internal sealed class Item {
    abstract val number: Long
    abstract val at: Long
}

internal data class Register(override val number: Long, override val at: Long) : Item()

/** `isWaiting`: the service rejected the token, or lost the user. Only another login continues. */
internal data class Identify(
    override val number: Long,
    override val at: Long,
    val user: String,
    val token: String?,
    val isWaiting: Boolean = false,
) : Item()

internal data class Logout(override val number: Long, override val at: Long) : Item()

internal data class Report(override val number: Long, override val at: Long, val user: String?, val body: JSONObject) :
    Item()

internal data class Receipt(override val number: Long, override val at: Long, val body: JSONObject) : Item()

/** A token that another device holds. The service sends a code to it, which proves that it is this phone's. */
internal data class Held(val token: PushToken, val at: Long)

/** Everything that outlives the process. */
internal class State(
    var appKey: String = "",
    var host: String = "",
    /** Made on the device and kept there: the two prove this installation. */
    var id: String = UUID.randomUUID().toString(),
    var secret: String = makeSecret(),
    var isRegistered: Boolean = false,
    var isOptedIn: Boolean = true,
    var token: PushToken? = null,
    var held: Held? = null,
    /** The code that arrived. */
    var challenge: String? = null,
    /** The user who is signed in on the phone. */
    var user: String? = null,
    /** The user who is signed in at the service. */
    var serviceUser: String? = null,
    /** A logout has not reached the service: messages that arrive are for the user who left, and are not shown. */
    var isHushed: Boolean = false,
    var failures: Int = 0,
    var waitUntil: Long = 0,
    /** The wait is because of the network, so it ends when there is one. */
    var isOffline: Boolean = false,
    var nextNumber: Long = 1,
    var queue: MutableList<Item> = mutableListOf(),
) {
    fun number(): Long = nextNumber++

    /** The server of the app registers this phone; only receipts are sent. */
    val isReceiverOnly: Boolean get() = host != "" && appKey == ""

    fun write(): String =
        JSONObject()
            .put("appKey", appKey).put("host", host).put("id", id).put("secret", secret)
            .put("isRegistered", isRegistered).put("isOptedIn", isOptedIn)
            .put("token", token?.let(::writeToken))
            .put("held", held?.let { writeToken(it.token).put("at", it.at) })
            .put("challenge", challenge).put("user", user).put("serviceUser", serviceUser)
            .put("isHushed", isHushed).put("failures", failures).put("waitUntil", waitUntil)
            .put("isOffline", isOffline).put("nextNumber", nextNumber)
            .put("queue", JSONArray(queue.map(::writeItem)))
            .toString()

    companion object {
        /** @throws org.json.JSONException if the text is not a stored state */
        fun read(text: String): State {
            val json = JSONObject(text)
            val queue = json.getJSONArray("queue")
            return State(
                appKey = json.getString("appKey"),
                host = json.getString("host"),
                id = json.getString("id"),
                secret = json.getString("secret"),
                isRegistered = json.getBoolean("isRegistered"),
                isOptedIn = json.getBoolean("isOptedIn"),
                token = json.optJSONObject("token")?.let(::readToken),
                held = json.optJSONObject("held")?.let { Held(readToken(it), it.getLong("at")) },
                challenge = json.text("challenge"),
                user = json.text("user"),
                serviceUser = json.text("serviceUser"),
                isHushed = json.getBoolean("isHushed"),
                failures = json.getInt("failures"),
                waitUntil = json.getLong("waitUntil"),
                isOffline = json.getBoolean("isOffline"),
                nextNumber = json.getLong("nextNumber"),
                queue = (0 until queue.length()).map { readItem(queue.getJSONObject(it)) }.toMutableList(),
            )
        }

        private fun writeToken(token: PushToken): JSONObject =
            JSONObject().put("value", token.value).put("provider", token.provider).put("type", token.type)

        private fun readToken(json: JSONObject): PushToken =
            PushToken(json.getString("value"), json.text("provider"), json.text("type"))

        private fun writeItem(item: Item): JSONObject {
            val json = JSONObject().put("number", item.number).put("at", item.at)
            return when (item) {
                is Register -> json.put("kind", "register")
                is Identify ->
                    json.put("kind", "identify").put("user", item.user).put("token", item.token)
                        .put("isWaiting", item.isWaiting)
                is Logout -> json.put("kind", "logout")
                is Report -> json.put("kind", "report").put("user", item.user).put("body", item.body)
                is Receipt -> json.put("kind", "receipt").put("body", item.body)
            }
        }

        private fun readItem(json: JSONObject): Item {
            val number = json.getLong("number")
            val at = json.getLong("at")
            return when (val kind = json.getString("kind")) {
                "register" -> Register(number, at)
                "identify" ->
                    Identify(number, at, json.getString("user"), json.text("token"), json.getBoolean("isWaiting"))
                "logout" -> Logout(number, at)
                "report" -> Report(number, at, json.text("user"), json.getJSONObject("body"))
                "receipt" -> Receipt(number, at, json.getJSONObject("body"))
                else -> throw org.json.JSONException("unknown kind of item: $kind")
            }
        }
    }
}

/** Returns the member as text; null if it is absent or null. `optString` would return an empty text. */
internal fun JSONObject.text(name: String): String? = if (isNull(name)) null else getString(name)

private const val LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** Returns 256 random bits in base64url. By hand, because `java.util.Base64` needs Android 8. */
internal fun makeSecret(): String {
    val bytes = ByteArray(32).also { SecureRandom().nextBytes(it) }
    val text = StringBuilder()
    var bits = 0
    var count = 0
    for (byte in bytes) {
        bits = (bits shl 8) or (byte.toInt() and 0xff)
        count += 8
        while (count >= 6) {
            count -= 6
            text.append(LETTERS[(bits shr count) and 63])
        }
        bits = bits and ((1 shl count) - 1)
    }
    return text.append(LETTERS[(bits shl (6 - count)) and 63]).toString()
}
