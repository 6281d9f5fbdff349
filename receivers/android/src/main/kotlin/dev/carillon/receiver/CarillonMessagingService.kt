package dev.carillon.receiver

import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage

/**
 * Where Firebase hands messages over, on a thread of its own, for about twenty seconds each. Extend it for what is yours, and
 * name your class in the manifest instead.
 */
open class CarillonMessagingService : FirebaseMessagingService() {
    override fun onMessageReceived(remote: RemoteMessage) {
        val message = CarillonMessage.read(remote.data, Carillon.settings)
        if (message == null) {
            onForeignMessage(remote)
            return
        }
        // FCM may deliver twice, and a server that died in between sends again: under the same id.
        if (!SeenMessages(this, "shown").add(message.id)) return
        val isLowered = remote.originalPriority == RemoteMessage.PRIORITY_HIGH && remote.priority != remote.originalPriority
        if (message.isSilent) onSilentMessage(message) else ShowMessage(this).show(message, isLowered = isLowered)
    }

    /** A new phone, a restored backup, an app that was installed anew: the old address is dead. */
    override fun onNewToken(token: String) {
        Registration.send(this, token, "token")
    }

    /** In the place of a token, where the manifest of your app has `firebase_messaging_installation_id_enabled`. */
    override fun onRegistered(installationId: String) {
        Registration.send(this, installationId, "fid")
    }

    /** FCM dropped what it kept for this phone (over a hundred messages, or a month away). */
    override fun onDeletedMessages() {
        onMissedMessages()
    }

    /** Not of this workspace, or in mode `notification` while the app is in the foreground, which then shows it or nobody. */
    protected open fun onForeignMessage(remote: RemoteMessage) = Unit

    /** Nothing to show: `message.pairs` are for the app. */
    protected open fun onSilentMessage(message: CarillonMessage) = Unit

    /** Ask your own server what this person has missed. */
    protected open fun onMissedMessages() = Unit
}
