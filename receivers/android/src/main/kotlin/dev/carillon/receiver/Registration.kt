package dev.carillon.receiver

import android.content.Context
import android.os.Build
import androidx.work.Worker
import androidx.work.WorkerParameters
import androidx.work.workDataOf
import java.util.Locale
import org.json.JSONObject

/**
 * Tells your own server the address of this phone. It knows who is signed in, holds the key for it, and registers the device
 * with Carillon; an app must not hold that key.
 */
internal object Registration {
    /** @param kind `token`, or `fid`: the id of the installation, by which Firebase knows newer apps */
    fun send(context: Context, address: String, kind: String) {
        val data = workDataOf(RegistrationWorker.ADDRESS to address, RegistrationWorker.KIND to kind)
        // The newest address replaces one that is still on its way.
        Post.enqueue<RegistrationWorker>(context, data, "carillon-registration")
    }
}

class RegistrationWorker(context: Context, parameters: WorkerParameters) : Worker(context, parameters) {
    override fun doWork(): Result {
        val address = inputData.getString(ADDRESS) ?: return Result.failure()
        val body = JSONObject()
            .put("platform", "ANDROID")
            .put("push_id", address)
            .put("push_id_type", inputData.getString(KIND) ?: "token")
            .put("model", Build.MODEL)
            .put("os_version", Build.VERSION.RELEASE)
            .put("app_version", versionOf(applicationContext))
            // In which of its languages a message comes.
            .put("locale", Locale.getDefault().toLanguageTag())
        val settings = Carillon.settings
        // From which the service counts on.
        settings.badge()?.let { body.put("badge_count", it) }
        return Post.once(settings.registration, body.toString(), settings.authorization())
    }

    private fun versionOf(context: Context): String? =
        context.packageManager.getPackageInfo(context.packageName, 0).versionName

    companion object {
        const val ADDRESS = "address"
        const val KIND = "kind"
    }
}
