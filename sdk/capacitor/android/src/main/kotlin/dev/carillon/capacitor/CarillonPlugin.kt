package dev.carillon.capacitor

import com.getcapacitor.JSObject
import com.getcapacitor.Plugin
import com.getcapacitor.PluginCall
import com.getcapacitor.PluginMethod
import com.getcapacitor.annotation.CapacitorPlugin
import dev.carillon.Carillon
import dev.carillon.core.CarillonMessage
import dev.carillon.core.Notice
import java.net.MalformedURLException

/** Passes calls of the page to the SDK, and its messages and notices to the page. */
@CapacitorPlugin(name = "Carillon")
class CarillonPlugin : Plugin() {
    private val ends = mutableListOf<() -> Unit>()

    override fun handleOnDestroy() {
        ends.forEach { it() }
        ends.clear()
        super.handleOnDestroy()
    }

    @PluginMethod
    fun start(call: PluginCall) = settle(call) {
        Carillon.start(context.applicationContext, textOf(call, "appKey"), textOf(call, "host"))
        // The page may be loaded again in the same process.
        if (ends.isEmpty()) {
            ends += Carillon.onMessage { notifyListeners("message", describe(it)) }
            ends += Carillon.onNotice { notice ->
                val word = if (notice == Notice.TOKEN_LOST) "token-lost" else "identity-needed"
                notifyListeners("notice", JSObject().put("notice", word))
            }
        }
    }

    @PluginMethod
    fun askPermission(call: PluginCall) = settle(call) { Carillon.askPermission(activity, PERMISSION_CODE) }

    @PluginMethod
    fun login(call: PluginCall) =
        settle(call) { Carillon.login(textOf(call, "userId"), call.getString("identityToken")) }

    @PluginMethod
    fun logout(call: PluginCall) = settle(call) { Carillon.logout() }

    @PluginMethod
    fun track(call: PluginCall) = settle(call) { Carillon.track(textOf(call, "name"), attributesOf(call)) }

    @PluginMethod
    fun setAttributes(call: PluginCall) = settle(call) { Carillon.setAttributes(attributesOf(call)) }

    @PluginMethod
    fun optIn(call: PluginCall) = settle(call) { Carillon.optIn() }

    @PluginMethod
    fun optOut(call: PluginCall) = settle(call) { Carillon.optOut() }

    private fun settle(call: PluginCall, work: () -> Unit) =
        try {
            work()
            call.resolve()
        } catch (fault: IllegalStateException) {
            call.reject(fault.message, "carillon-state", fault)
        } catch (fault: IllegalArgumentException) {
            call.reject(fault.message, "carillon-argument", fault)
        } catch (fault: MalformedURLException) {
            call.reject(fault.message, "carillon-host", fault)
        }

    private fun textOf(call: PluginCall, name: String): String =
        requireNotNull(call.getString(name)) { "$name must be a text" }

    private fun attributesOf(call: PluginCall): Map<String, Any?> {
        val attributes = requireNotNull(call.getObject("attributes")) { "attributes must be an object" }
        return attributes.keys().asSequence().associateWith { attributes.get(it) }
    }

    private fun describe(message: CarillonMessage): JSObject {
        val pairs = JSObject()
        for ((name, value) in message.pairs) pairs.put(name, value)
        return JSObject().put("id", message.id).put("title", message.title).put("message", message.text)
            .put("isSilent", message.isSilent).put("pairs", pairs)
    }

    private companion object {
        const val PERMISSION_CODE = 4_117
    }
}
