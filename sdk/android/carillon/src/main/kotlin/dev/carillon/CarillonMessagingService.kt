package dev.carillon

import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage
import dev.carillon.core.PushToken

/**
 * Gets messages from Firebase, on a thread that has about twenty seconds for each. Extend it to handle other senders, and name
 * your class in the manifest instead.
 */
open class CarillonMessagingService : FirebaseMessagingService() {
    override fun onMessageReceived(remote: RemoteMessage) {
        if (!Carillon.receive(this, remote.data)) onForeignMessage(remote)
    }

    /** A new phone, a restored backup, a reinstalled app: the old address is dead. */
    override fun onNewToken(token: String) = Carillon.setPushToken(this, PushToken(token))

    /** Instead of a token, if the manifest of the app has `firebase_messaging_installation_id_enabled`. */
    override fun onRegistered(installationId: String) =
        Carillon.setPushToken(this, PushToken(installationId, type = "fid"))

    /** Not a message of this workspace. */
    protected open fun onForeignMessage(remote: RemoteMessage) = Unit
}
