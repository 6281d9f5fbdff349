@file:Suppress("UNUSED_PARAMETER", "unused")

package com.google.firebase.messaging

import android.app.Service

class Task<Result> {
    fun addOnSuccessListener(listener: (Result) -> Unit): Task<Result> = TODO()
}

class FirebaseMessaging {
    val token: Task<String> get() = TODO()
    fun register(): Task<Void?> = TODO()
    fun deleteToken(): Task<Void?> = TODO()

    companion object {
        fun getInstance(): FirebaseMessaging = TODO()
    }
}

class RemoteMessage {
    val data: Map<String, String> get() = TODO()
}

abstract class FirebaseMessagingService : Service() {
    open fun onMessageReceived(remote: RemoteMessage) { TODO() }
    open fun onNewToken(token: String) { TODO() }
    open fun onRegistered(installationId: String) { TODO() }
}
