@file:Suppress("UNUSED_PARAMETER", "unused")

package com.getcapacitor

import android.app.Activity
import android.content.Context
import org.json.JSONObject

class JSObject : JSONObject() {
    override fun put(name: String, value: Any?): JSObject = TODO()
    override fun put(name: String, value: Boolean): JSObject = TODO()
}

annotation class PluginMethod

class PluginCall {
    fun getString(name: String): String? = TODO()
    fun getObject(name: String): JSObject? = TODO()
    fun resolve() { TODO() }
    fun reject(message: String?, code: String?, fault: Exception?) { TODO() }
}

abstract class Plugin {
    val context: Context get() = TODO()
    val activity: Activity get() = TODO()
    fun notifyListeners(name: String, value: JSObject) { TODO() }
    open fun handleOnDestroy() { TODO() }
}
