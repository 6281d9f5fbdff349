@file:Suppress("UNUSED_PARAMETER", "unused")

package android.app

import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.view.View

open class Application : Context() {
    open fun onCreate() { TODO() }
}

open class Activity : Context() {
    var intent: Intent = TODO()
    open fun onCreate(state: Bundle?) { TODO() }
    open fun onNewIntent(intent: Intent) { TODO() }
    open fun onDestroy() { TODO() }
    fun setContentView(view: View) { TODO() }
    fun runOnUiThread(work: () -> Unit) { TODO() }
    fun requestPermissions(permissions: Array<String>, code: Int) { TODO() }
    fun finish() { TODO() }
}

abstract class Service : Context()

class PendingIntent {
    companion object {
        const val FLAG_IMMUTABLE = 1
        const val FLAG_UPDATE_CURRENT = 2
        fun getActivity(context: Context, code: Int, intent: Intent, flags: Int): PendingIntent = TODO()
        fun getBroadcast(context: Context, code: Int, intent: Intent, flags: Int): PendingIntent = TODO()
    }
}

class NotificationChannel(id: String, name: CharSequence, importance: Int) {
    val importance: Int = TODO()
}

class NotificationManager {
    fun createNotificationChannel(channel: NotificationChannel) { TODO() }

    companion object {
        const val IMPORTANCE_HIGH = 4
    }
}

class Notification
