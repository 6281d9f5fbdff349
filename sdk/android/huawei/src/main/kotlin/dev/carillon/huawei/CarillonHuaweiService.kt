package dev.carillon.huawei

import android.content.Context
import android.os.Bundle
import com.huawei.hms.aaid.HmsInstanceId
import com.huawei.hms.common.ApiException
import com.huawei.hms.push.HmsMessageService
import com.huawei.hms.push.RemoteMessage
import dev.carillon.Carillon
import dev.carillon.core.PushToken
import kotlin.concurrent.thread

/** Huawei Push Kit, for phones without Google's services. */
object CarillonHuawei {
    /** Asks for the token of this phone. Call it after `Carillon.start`. @param appId from AppGallery Connect */
    fun start(context: Context, appId: String) {
        thread(name = "carillon-huawei") {
            val token = try {
                HmsInstanceId.getInstance(context).getToken(appId, "HCM")
            } catch (ignored: ApiException) {
                // A phone without Huawei's services.
                null
            }
            // From some versions on an empty token is returned, and the service gets the token later.
            if (!token.isNullOrEmpty()) Carillon.setPushToken(context, PushToken(token, provider = "hms"))
        }
    }
}

/** Gets data messages and tokens from Huawei. */
class CarillonHuaweiService : HmsMessageService() {
    override fun onNewToken(token: String?, bundle: Bundle?) {
        if (!token.isNullOrEmpty()) Carillon.setPushToken(this, PushToken(token, provider = "hms"))
    }

    override fun onMessageReceived(remote: RemoteMessage?) {
        if (remote != null) Carillon.receive(this, remote.dataOfMap)
    }
}
