@file:Suppress("UNUSED_PARAMETER", "unused")

package com.huawei.hms.push

import android.app.Service
import android.os.Bundle

class RemoteMessage {
    val dataOfMap: Map<String, String> get() = TODO()
}

abstract class HmsMessageService : Service() {
    open fun onNewToken(token: String?, bundle: Bundle?) { TODO() }
    open fun onMessageReceived(remote: RemoteMessage?) { TODO() }
}
