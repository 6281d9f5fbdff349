package dev.carillon

import android.Manifest
import android.app.Activity
import android.content.Context
import android.content.Intent
import android.os.Build
import com.google.firebase.messaging.FirebaseMessaging
import dev.carillon.core.CarillonCore
import dev.carillon.core.CarillonMessage
import dev.carillon.core.CoreOptions
import dev.carillon.core.FileStore
import dev.carillon.core.Notice
import dev.carillon.core.PushToken
import dev.carillon.core.ReceiptType
import java.io.File
import java.util.Locale
import java.util.TimeZone
import java.util.concurrent.CopyOnWriteArraySet
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/**
 * Push, sign-in and events of an app. Every call stores what it is asked to do and returns; none throws because of the network.
 * Only the main process of an app may use it.
 */
object Carillon {
    private val messageListeners = CopyOnWriteArraySet<(CarillonMessage) -> Unit>()
    private val lock = Any()
    private var created: CarillonCore? = null
    private var onPushToken: ((PushToken) -> Unit)? = null

    private val core: CarillonCore
        get() = checkNotNull(created) { "call Carillon.start first" }

    /**
     * Registers the installation, with its push token. Call it in `Application.onCreate`: a message may start the app without any
     * of its activities.
     *
     * @param appKey a key of kind app; it is public
     * @param host the address of the service, such as `https://push.example.com`
     */
    fun start(context: Context, appKey: String, host: String) {
        onPushToken = null
        core(context).start(appKey, host)
        FirebaseTokens.read { setPushToken(context, it) }
    }

    /**
     * For an app whose own server registers the phone and knows its user: the SDK shows messages and sends receipts, without an
     * app key. Call it in `Application.onCreate` instead of start.
     *
     * @param onPushToken gets the address of the phone at every start and when it changes; send it to your server
     */
    fun startReceiving(context: Context, host: String, onPushToken: (PushToken) -> Unit) {
        this.onPushToken = onPushToken
        core(context).startReceiving(host)
        FirebaseTokens.read(onPushToken)
    }

    /**
     * Signs a user in.
     *
     * @param identityToken issued by your server; it is sent once. Only a sandbox accepts a user without a token
     */
    fun login(userId: String, identityToken: String? = null) = core.login(userId, identityToken)

    /** Signs the user out, offline too: from now on no message for the user is shown. */
    fun logout() = core.logout()

    /** Reports an event of the current user. It is kept for seven days while the service cannot be reached. */
    fun track(name: String, attributes: Map<String, Any?> = emptyMap()) = core.track(name, attributes)

    /** Sets attributes of the current user; null removes one. The workspace lists the attributes that apps may set. */
    fun setAttributes(attributes: Map<String, Any?>) = core.setAttributes(attributes)

    fun optIn() = core.optIn()

    /** Stops messages to this phone, whoever is signed in, until optIn. */
    fun optOut() = core.optOut()

    /** The address of this phone. Only needed for providers other than FCM: `hms`, `adm`. */
    fun setPushToken(context: Context, token: PushToken) {
        val listener = onPushToken
        if (listener == null) core(context).setPushToken(token) else listener(token)
    }

    /**
     * Calls the listener for each message that reaches the app's process, before it is shown, on the thread of the push service.
     *
     * @return a function that ends it
     */
    fun onMessage(listener: (CarillonMessage) -> Unit): () -> Unit {
        messageListeners.add(listener)
        return { messageListeners.remove(listener) }
    }

    /** `IDENTITY_NEEDED`: call login again, with a new token. @return a function that ends it */
    fun onNotice(listener: (Notice) -> Unit): () -> Unit = core.onNotice(listener)

    /** From Android 13 nothing is shown until the user has agreed. Ask when the reason is clear to the user. */
    fun askPermission(activity: Activity, requestCode: Int) {
        if (Build.VERSION.SDK_INT >= 33) {
            activity.requestPermissions(arrayOf(Manifest.permission.POST_NOTIFICATIONS), requestCode)
        }
    }

    /**
     * For `onCreate` and `onNewIntent` of the activity that your app starts with: in mode `both` the system
     * shows messages, and a tap starts the app with their data as extras.
     */
    fun noteLaunch(activity: Activity, intent: Intent) {
        val extras = intent.extras ?: return
        val data = extras.keySet().mapNotNull { key -> extras.getString(key)?.let { key to it } }.toMap()
        val message = CarillonMessage.read(data, CarillonOptions.read(activity).format) ?: return
        if (!SeenMessages(activity, "opened").add(message.id)) return
        Receipts.send(activity, message, ReceiptType.CLICKED)
        message.target?.let { Targets.open(activity, it, message.pairs) }
    }

    /**
     * Handles a message of a push service, for about ten seconds at most.
     *
     * @return false for a message of another sender, which is yours to handle
     */
    fun receive(context: Context, data: Map<String, String>): Boolean {
        val options = CarillonOptions.read(context)
        val message = CarillonMessage.read(data, options.format) ?: return false
        val core = core(context)
        val challenge = message.challenge
        if (challenge != null || core.isHushed) {
            // A push has arrived, so there is a network.
            if (challenge != null) core.answer(challenge) else core.online()
            awaitSync(core)
            return true
        }
        // The push service may deliver twice, and a server that died meanwhile sends again: under the same id.
        if (!SeenMessages(context, "shown").add(message.id)) return true
        messageListeners.forEach { it(message) }
        if (!message.isSilent) ShowMessage(context, options).show(message)
        return true
    }

    /** Returns the core of the app, which a message or a job may need before `start`. */
    internal fun core(context: Context): CarillonCore = synchronized(lock) {
        created ?: makeCore(context.applicationContext).also {
            created = it
            it.onNotice { notice -> if (notice == Notice.TOKEN_LOST) FirebaseTokens.renew(it::setPushToken) }
        }
    }

    private fun makeCore(context: Context): CarillonCore {
        // Not part of backups: a secret that another phone restores would be two phones under one id.
        val store = FileStore(File(context.noBackupFilesDir, "carillon.json"))
        val onWaiting = { SyncJob.enqueue(context) }
        return CarillonCore(CoreOptions(store = store, device = { describe(context) }, onWaiting = onWaiting))
    }

    private fun describe(context: Context): Map<String, String> {
        val version = context.packageManager.getPackageInfo(context.packageName, 0).versionName
        val values = mapOf(
            "locale" to Locale.getDefault().toLanguageTag(),
            "time_zone" to TimeZone.getDefault().id,
            "app_version" to version,
            "os_version" to Build.VERSION.RELEASE,
            "model" to Build.MODEL,
            "app_id" to CarillonOptions.read(context).appId,
        )
        return values.mapNotNull { (name, value) -> value?.let { name to it } }.toMap()
    }

    private fun awaitSync(core: CarillonCore) {
        try {
            core.sync().get(MAX_SECONDS, TimeUnit.SECONDS)
        } catch (ignored: TimeoutException) {
            // The job of the queue goes on.
        } catch (ignored: ExecutionException) {
            // The next call tries again.
        }
    }

    private const val MAX_SECONDS = 10L
}

/** Firebase's address of this phone. An app without Firebase, such as one for Huawei phones only, has none. */
internal object FirebaseTokens {
    fun read(onToken: (PushToken) -> Unit) {
        val messaging = messagingOrNull() ?: return
        messaging.token.addOnSuccessListener { onToken(PushToken(it)) }
        // The id of an app that uses ids instead of tokens arrives at the service; see its `onRegistered`.
        messaging.register()
    }

    /** Another device holds the token, so this phone asks for a new one. */
    fun renew(onToken: (PushToken) -> Unit) {
        val messaging = messagingOrNull() ?: return
        messaging.deleteToken().addOnSuccessListener { read(onToken) }
    }

    private fun messagingOrNull(): FirebaseMessaging? =
        try {
            FirebaseMessaging.getInstance()
        } catch (ignored: IllegalStateException) {
            null
        }
}
