@file:Suppress("UNUSED_PARAMETER", "unused")

package androidx.core.app

import android.app.Notification
import android.app.NotificationChannel
import android.app.PendingIntent
import android.content.Context
import android.graphics.Bitmap
import android.net.Uri

class NotificationManagerCompat {
    fun notify(tag: String?, id: Int, notification: Notification) { TODO() }
    fun cancel(tag: String?, id: Int) { TODO() }
    fun areNotificationsEnabled(): Boolean = TODO()
    fun getNotificationChannel(id: String): NotificationChannel? = TODO()

    companion object {
        const val IMPORTANCE_NONE = 0
        fun from(context: Context): NotificationManagerCompat = TODO()
    }
}

object NotificationCompat {
    const val PRIORITY_HIGH = 1
    const val VISIBILITY_PUBLIC = 1
    const val VISIBILITY_SECRET = -1
    const val VISIBILITY_PRIVATE = 0
    const val GROUP_ALERT_CHILDREN = 2

    abstract class Style

    class BigTextStyle : Style() {
        fun bigText(text: CharSequence): BigTextStyle = TODO()
    }

    class BigPictureStyle : Style() {
        fun bigPicture(picture: Bitmap): BigPictureStyle = TODO()
    }

    class Builder(context: Context, channel: String) {
        fun setSmallIcon(icon: Int): Builder = TODO()
        fun setContentTitle(text: CharSequence): Builder = TODO()
        fun setContentText(text: CharSequence): Builder = TODO()
        fun setSubText(text: CharSequence?): Builder = TODO()
        fun setPriority(priority: Int): Builder = TODO()
        fun setVisibility(visibility: Int): Builder = TODO()
        fun setOngoing(value: Boolean): Builder = TODO()
        fun setAutoCancel(value: Boolean): Builder = TODO()
        fun setContentIntent(intent: PendingIntent): Builder = TODO()
        fun setDeleteIntent(intent: PendingIntent): Builder = TODO()
        fun setColor(color: Int): Builder = TODO()
        fun setNumber(number: Int): Builder = TODO()
        fun setTimeoutAfter(milliseconds: Long): Builder = TODO()
        fun setSound(sound: Uri): Builder = TODO()
        fun setGroup(group: String): Builder = TODO()
        fun setGroupSummary(value: Boolean): Builder = TODO()
        fun setGroupAlertBehavior(behavior: Int): Builder = TODO()
        fun setStyle(style: Style): Builder = TODO()
        fun addAction(icon: Int, title: CharSequence, intent: PendingIntent): Builder = TODO()
        fun build(): Notification = TODO()
    }
}
