package dev.carillon

import android.content.ActivityNotFoundException
import android.content.Context
import android.content.Intent
import android.net.Uri
import dev.carillon.core.Target

/** Opens the target of a message; the app itself if there is none, or if it must not be opened. */
internal object Targets {
    // They would let a message run code, read files of the app, or start components that are not exported.
    private val refused = setOf("intent", "file", "content", "javascript", "data", "android-app")

    fun open(context: Context, target: Target?, pairs: Map<String, String>) {
        val intent = target?.let { intentOf(context, it) } ?: launcher(context) ?: return
        for ((name, value) in pairs) intent.putExtra(name, value)
        if (!start(context, intent)) launcher(context)?.let { start(context, it) }
    }

    fun start(context: Context, intent: Intent): Boolean =
        try {
            context.startActivity(intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK))
            true
        } catch (ignored: ActivityNotFoundException) {
            false
        } catch (ignored: SecurityException) {
            false
        }

    private fun intentOf(context: Context, target: Target): Intent? {
        val uri = Uri.parse(target.value)
        val scheme = uri.scheme?.lowercase()
        val isWeb = scheme == "https" || scheme == "http"
        return when (target.type) {
            "richlanding" -> if (isWeb) Intent(Intent.ACTION_VIEW, uri) else null
            "deeplinking" -> if (scheme == null || scheme in refused) null else deepLink(context, uri, isWeb)
            "navigation" -> screen(context, target.value)
            else -> null
        }
    }

    /** Prefers this app, so that no other app catches its links. Only web addresses may open another app. */
    private fun deepLink(context: Context, uri: Uri, isWeb: Boolean): Intent {
        val own = Intent(Intent.ACTION_VIEW, uri).setPackage(context.packageName)
        val isOurs = own.resolveActivity(context.packageManager) != null
        return if (isOurs || !isWeb) own else Intent(Intent.ACTION_VIEW, uri)
    }

    private fun screen(context: Context, name: String): Intent {
        val className = if (name.startsWith(".")) context.packageName + name else name
        return Intent().setClassName(context.packageName, className)
    }

    private fun launcher(context: Context): Intent? =
        context.packageManager.getLaunchIntentForPackage(context.packageName)
}
