@file:Suppress("UNUSED_PARAMETER", "unused")

package com.huawei.hms.aaid

import android.content.Context

class HmsInstanceId {
    fun getToken(appId: String, scope: String): String? = TODO()

    companion object {
        fun getInstance(context: Context): HmsInstanceId = TODO()
    }
}
