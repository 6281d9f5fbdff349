package dev.carillon.reactnative

import com.facebook.react.bridge.Arguments
import com.facebook.react.bridge.Promise
import com.facebook.react.bridge.ReactApplicationContext
import com.facebook.react.bridge.ReactContextBaseJavaModule
import com.facebook.react.bridge.ReactMethod
import com.facebook.react.bridge.ReadableMap
import com.facebook.react.modules.core.DeviceEventManagerModule
import dev.carillon.Carillon
import dev.carillon.core.CarillonMessage
import dev.carillon.core.Notice
import java.net.MalformedURLException

/** Passes calls of JavaScript to the SDK, and its messages and notices to JavaScript. */
class CarillonModule(private val context: ReactApplicationContext) : ReactContextBaseJavaModule(context) {
    private val ends = mutableListOf<() -> Unit>()

    override fun getName(): String = "Carillon"

    override fun invalidate() {
        ends.forEach { it() }
        ends.clear()
        super.invalidate()
    }

    @ReactMethod
    fun start(appKey: String, host: String, promise: Promise) = settle(promise) {
        Carillon.start(context.applicationContext, appKey, host)
        // JavaScript may start again in the same process.
        if (ends.isEmpty()) {
            ends += Carillon.onMessage { emit("carillonMessage", describe(it)) }
            ends += Carillon.onNotice { emit("carillonNotice", if (it == Notice.TOKEN_LOST) "token-lost" else "identity-needed") }
        }
    }

    @ReactMethod
    fun askPermission(promise: Promise) = settle(promise) {
        val activity = checkNotNull(context.currentActivity) { "the app is in the background" }
        Carillon.askPermission(activity, PERMISSION_CODE)
    }

    @ReactMethod
    fun login(userId: String, identityToken: String?, promise: Promise) =
        settle(promise) { Carillon.login(userId, identityToken) }

    @ReactMethod
    fun logout(promise: Promise) = settle(promise) { Carillon.logout() }

    @ReactMethod
    fun track(name: String, attributes: ReadableMap, promise: Promise) =
        settle(promise) { Carillon.track(name, attributes.toHashMap()) }

    @ReactMethod
    fun setAttributes(attributes: ReadableMap, promise: Promise) =
        settle(promise) { Carillon.setAttributes(attributes.toHashMap()) }

    @ReactMethod
    fun optIn(promise: Promise) = settle(promise) { Carillon.optIn() }

    @ReactMethod
    fun optOut(promise: Promise) = settle(promise) { Carillon.optOut() }

    /** React Native's emitter of events calls the two; there is nothing to count. */
    @ReactMethod
    fun addListener(@Suppress("UNUSED_PARAMETER") name: String) = Unit

    @ReactMethod
    fun removeListeners(@Suppress("UNUSED_PARAMETER") count: Double) = Unit

    private fun settle(promise: Promise, work: () -> Unit) =
        try {
            work()
            promise.resolve(null)
        } catch (fault: IllegalStateException) {
            promise.reject("carillon-state", fault)
        } catch (fault: MalformedURLException) {
            promise.reject("carillon-host", fault)
        }

    private fun emit(name: String, value: Any) {
        // A message may start the process without any JavaScript.
        if (!context.hasActiveReactInstance()) return
        context.getJSModule(DeviceEventManagerModule.RCTDeviceEventEmitter::class.java).emit(name, value)
    }

    private fun describe(message: CarillonMessage): Any {
        val pairs = Arguments.createMap()
        for ((name, value) in message.pairs) pairs.putString(name, value)
        val described = Arguments.createMap()
        described.putString("id", message.id)
        described.putString("title", message.title)
        described.putString("message", message.text)
        described.putBoolean("isSilent", message.isSilent)
        described.putMap("pairs", pairs)
        return described
    }

    private companion object {
        const val PERMISSION_CODE = 4_117
    }
}
