package dev.carillon

import android.app.NotificationChannel
import android.app.NotificationManager
import android.content.Context
import android.content.pm.PackageManager
import android.os.Build
import android.os.Bundle
import dev.carillon.core.MessageFormat

/**
 * What the app says in its manifest, as `meta-data`. The manifest, because a message may start the process before any code of
 * the app that could say it.
 */
internal class CarillonOptions(
    val format: MessageFormat,
    val smallIcon: Int,
    val defaultChannel: String,
    val appId: String?,
) {
    companion object {
        fun read(context: Context): CarillonOptions {
            val info = context.packageManager.getApplicationInfo(context.packageName, PackageManager.GET_META_DATA)
            val values = info.metaData ?: Bundle()
            val icon = values.getInt("dev.carillon.small_icon")
            return CarillonOptions(
                format = MessageFormat(
                    pushFrom = values.getString("dev.carillon.push_from") ?: "carillon",
                    dataPrefix = values.getString("dev.carillon.data_prefix") ?: "svc",
                ),
                smallIcon = if (icon == 0) info.icon else icon,
                defaultChannel = values.getString("dev.carillon.default_channel") ?: ownChannel(context),
                appId = values.getString("dev.carillon.app_id"),
            )
        }

        /** A channel with the app's name, for an app that names none. */
        private fun ownChannel(context: Context): String {
            if (Build.VERSION.SDK_INT >= 26) {
                val name = context.packageManager.getApplicationLabel(context.applicationInfo)
                val channel = NotificationChannel(OWN_CHANNEL, name, NotificationManager.IMPORTANCE_HIGH)
                val manager = context.getSystemService(Context.NOTIFICATION_SERVICE) as NotificationManager
                manager.createNotificationChannel(channel)
            }
            return OWN_CHANNEL
        }

        private const val OWN_CHANNEL = "carillon"
    }
}
