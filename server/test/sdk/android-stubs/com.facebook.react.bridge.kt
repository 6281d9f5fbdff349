@file:Suppress("UNUSED_PARAMETER", "unused")

package com.facebook.react.bridge

import android.app.Activity
import android.content.Context

interface NativeModule

annotation class ReactMethod

class ReactApplicationContext : Context() {
    val currentActivity: Activity? get() = TODO()
    fun hasActiveReactInstance(): Boolean = TODO()
    fun <Module> getJSModule(type: Class<Module>): Module = TODO()
}

abstract class ReactContextBaseJavaModule(context: ReactApplicationContext) : NativeModule {
    abstract fun getName(): String
    open fun invalidate() { TODO() }
}

interface Promise {
    fun resolve(value: Any?)
    fun reject(code: String, fault: Throwable)
}

interface ReadableMap {
    fun toHashMap(): HashMap<String, Any?>
}

interface WritableMap : ReadableMap {
    fun putString(name: String, value: String?)
    fun putBoolean(name: String, value: Boolean)
    fun putMap(name: String, value: ReadableMap?)
}

object Arguments {
    fun createMap(): WritableMap = TODO()
}
