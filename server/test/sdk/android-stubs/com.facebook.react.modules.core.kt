@file:Suppress("UNUSED_PARAMETER", "unused")

package com.facebook.react.modules.core

interface DeviceEventManagerModule {
    interface RCTDeviceEventEmitter {
        fun emit(name: String, value: Any?)
    }
}
