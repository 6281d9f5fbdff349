package dev.carillon.receiver

import android.Manifest
import android.app.Activity
import android.app.Application
import android.content.Intent
import android.os.Build
import com.google.firebase.messaging.FirebaseMessaging

/** What the receiver has to know of your app. */
class CarillonSettings(
    /** Origin of your Carillon service, as `https://push.example.com`. Reports go there, whatever a message says. */
    val service: String,
    /** An address of your own server, which knows who is signed in and registers the phone with Carillon. */
    val registration: String,
    /** Value of the `Authorization` header for your own server; it is asked each time something is sent. */
    val authorization: () -> String? = { null },
    /** `push_from` of your workspace (`carillon workspaces show`). */
    val pushFrom: String = "carillon",
    /** Stands before Carillon's own keys; the header prefix of the installation unless the workspace has its own. */
    val dataPrefix: String = "svc",
    /** White on transparent, as Android wants it. */
    val smallIcon: Int,
    /** Of messages that name no channel, or one that your app does not have. Your app makes its channels. */
    val defaultChannel: String,
    /** The number that your app shows on its icon, told at every start; null if it shows none. */
    val badge: () -> Int? = { null },
)

/**
 * The receiver of one app. Call `start` in `Application.onCreate`: messages, alarms and reports may wake the app without
 * any of its activities.
 */
object Carillon {
    lateinit var settings: CarillonSettings
        private set

    /** Also tells your server the address of this phone, so that one that was lost on the way comes again. */
    fun start(application: Application, settings: CarillonSettings) {
        this.settings = settings
        val messaging = FirebaseMessaging.getInstance()
        messaging.token.addOnSuccessListener { token -> Registration.send(application, token, "token") }
        // The manifest says which of the two Firebase refuses; the id comes to the service.
        messaging.register()
    }

    /** From Android 13 nothing is shown until the person has agreed. Ask when it is clear what for. */
    fun askPermission(activity: Activity, requestCode: Int) {
        if (Build.VERSION.SDK_INT >= 33) {
            activity.requestPermissions(arrayOf(Manifest.permission.POST_NOTIFICATIONS), requestCode)
        }
    }

    /**
     * For `onCreate` and `onNewIntent` of the activity that your app starts with: in mode `both` the system has shown the
     * message, and a tap on it starts the app with the data as extras.
     */
    fun noteLaunch(activity: Activity, intent: Intent) {
        val extras = intent.extras ?: return
        val data = extras.keySet().mapNotNull { key -> extras.getString(key)?.let { key to it } }.toMap()
        val message = CarillonMessage.read(data, settings) ?: return
        if (!SeenMessages(activity, "opened").add(message.id)) return
        Reports.send(activity, message, "click")
        message.target?.let { Targets.open(activity, it, message.pairs) }
    }
}
