package dev.carillon.core

import java.io.File
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.TimeUnit
import org.json.JSONArray
import org.json.JSONObject

/**
 * Plays the steps of `sdk/conformance.json` that an app does. Reads commands from standard input, one line of JSON each, and
 * replies with a line when the attempt to send is over. Argument: a folder for the installation.
 */
fun main(arguments: Array<String>) {
    val phone = Phone(File(arguments[0]))
    for (line in generateSequence(::readlnOrNull)) println(phone.perform(JSONObject(line)))
}

private class Phone(private val folder: File) {
    private val notices = CopyOnWriteArrayList<String>()
    private var aheadMilliseconds = 0L
    private var installs = 0
    private var core = open()

    private fun open(): CarillonCore {
        val store = FileStore(File(folder, "installation-$installs.json"))
        val device = { mapOf("locale" to "de", "time_zone" to "Europe/Berlin", "app_version" to "1.0") }
        val clock = { System.currentTimeMillis() + aheadMilliseconds }
        val opened = CarillonCore(CoreOptions(store = store, clock = clock, device = device))
        opened.onNotice { notices.add(if (it == Notice.TOKEN_LOST) "subscription-lost" else "identity-needed") }
        return opened
    }

    fun perform(step: JSONObject): JSONObject {
        val result = JSONObject()
        when (val word = step.getString("do")) {
            "start" -> core.start(step.getString("appKey"), step.getString("host"))
            "start receiving" -> core.startReceiving(step.getString("host"))
            "receipt" -> core.receipt(step.getString("token"), ReceiptType.valueOf(step.getString("type").uppercase()))
            "subscribe" -> core.setPushToken(PushToken(step.getString("token")))
            "login" -> try {
                core.login(step.getString("user"), step.text("token"))
            } catch (fault: IllegalStateException) {
                result.put("fault", "IllegalStateException")
            }
            "logout" -> core.logout()
            "track" -> core.track(step.getString("event"))
            "online" -> core.online()
            "opt out" -> core.optOut()
            "set" -> core.setAttributes(mapOf(step.getString("name") to step.get("value")))
            "receive" -> result.put("shows", receive(step.getJSONObject("data")))
            "clock" -> aheadMilliseconds = step.getLong("aheadSeconds") * 1_000
            "restart" -> core = open()
            "reinstall" -> {
                installs += 1
                core = open()
            }
            "look" -> Unit
            else -> throw IllegalArgumentException(word)
        }
        core.sync().get(30, TimeUnit.SECONDS)
        return result.put("notices", JSONArray(notices))
    }

    private fun receive(data: JSONObject): Any {
        val values = data.keys().asSequence().associateWith { data.getString(it) }
        val message = CarillonMessage.read(values, MessageFormat()) ?: return "foreign"
        val challenge = message.challenge
        if (challenge != null) core.answer(challenge)
        return if (challenge != null || message.isSilent || core.isHushed) "nothing" else message.title
    }
}
