package dev.carillon

import android.annotation.SuppressLint
import android.content.Context
import android.graphics.Bitmap
import android.graphics.Color
import android.net.Uri
import android.os.Build
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationManagerCompat
import dev.carillon.core.Button
import dev.carillon.core.CarillonMessage
import dev.carillon.core.LocalText
import dev.carillon.core.ReceiptType

/** Shows a message as a notification. */
internal class ShowMessage(private val context: Context, private val options: CarillonOptions) {
    private val manager = NotificationManagerCompat.from(context)

    fun show(message: CarillonMessage) {
        showAgain(message)
        if (isVisible(channelOf(message))) Receipts.send(context, message, ReceiptType.SHOWN)
    }

    /** Shows it without a receipt: it was snoozed, and reported when it was shown first. */
    @SuppressLint("MissingPermission")
    fun showAgain(message: CarillonMessage) {
        val channel = channelOf(message)
        val builder = NotificationCompat.Builder(context, channel)
            .setSmallIcon(iconOf(message))
            .setContentTitle(textOf(message.titleText, message.title))
            .setContentText(textOf(message.bodyText, message.text))
            .setSubText(message.summary)
            .setPriority(NotificationCompat.PRIORITY_HIGH)
            .setVisibility(visibilityOf(message))
            .setOngoing(message.isOngoing)
            .setAutoCancel(true)
            .setContentIntent(PendingIntents.open(context, message))
            .setDeleteIntent(PendingIntents.broadcast(context, message, ActionReceiver.CLOSED))
        colorOf(message)?.let { builder.setColor(it) }
        message.badge?.let { builder.setNumber(it) }
        message.timeoutSeconds?.let { builder.setTimeoutAfter(it * 1000) }
        soundOf(message)?.let { builder.setSound(it) }
        message.group?.let { builder.setGroup(it) }
        builder.setStyle(styleOf(message, message.image?.let { LoadImage.load(it) }))
        for (button in message.buttons) addButton(builder, message, button)
        message.coupon?.let { addButton(builder, message, Button("copy", it, it)) }
        // Does nothing without the permission of Android 13.
        manager.notify(message.tag, ID, builder.build())
        message.group?.let { showSummary(it, channel) }
    }

    private fun addButton(builder: NotificationCompat.Builder, message: CarillonMessage, button: Button) {
        // From Android 12 a receiver must not start an activity, so these buttons start one directly.
        val intent = when (button.type) {
            "call", "share" -> PendingIntents.open(context, message, button)
            "copy" -> PendingIntents.broadcast(context, message, ActionReceiver.COPY, button)
            "snooze" -> PendingIntents.broadcast(context, message, ActionReceiver.SNOOZE, button)
            else -> return
        }
        builder.addAction(0, button.name, intent)
    }

    /** Android shows a group as one only if it has a summary. */
    @SuppressLint("MissingPermission")
    private fun showSummary(group: String, channel: String) {
        val summary = NotificationCompat.Builder(context, channel)
            .setSmallIcon(options.smallIcon)
            .setGroup(group)
            .setGroupSummary(true)
            .setGroupAlertBehavior(NotificationCompat.GROUP_ALERT_CHILDREN)
            .setAutoCancel(true)
        manager.notify("carillon-group-$group", ID, summary.build())
    }

    private fun styleOf(message: CarillonMessage, image: Bitmap?): NotificationCompat.Style =
        if (image == null) {
            NotificationCompat.BigTextStyle().bigText(textOf(message.bodyText, message.text))
        } else {
            NotificationCompat.BigPictureStyle().bigPicture(image)
        }

    private fun textOf(local: LocalText?, literal: String): String {
        val id = local?.let { context.resources.getIdentifier(it.key, "string", context.packageName) } ?: 0
        return if (id == 0) literal else context.getString(id, *local!!.arguments.toTypedArray())
    }

    /** Android does not show a message whose channel the app does not have. */
    private fun channelOf(message: CarillonMessage): String {
        val wanted = message.channel ?: return options.defaultChannel
        val isKnown = Build.VERSION.SDK_INT < 26 || manager.getNotificationChannel(wanted) != null
        return if (isKnown) wanted else options.defaultChannel
    }

    /** False if the user has switched notifications, or the channel, off: the message is not reported as shown. */
    private fun isVisible(channel: String): Boolean {
        if (!manager.areNotificationsEnabled()) return false
        if (Build.VERSION.SDK_INT < 26) return true
        return manager.getNotificationChannel(channel)?.importance != NotificationManagerCompat.IMPORTANCE_NONE
    }

    private fun iconOf(message: CarillonMessage): Int {
        val id = message.icon?.let { context.resources.getIdentifier(it, "drawable", context.packageName) } ?: 0
        return if (id == 0) options.smallIcon else id
    }

    private fun colorOf(message: CarillonMessage): Int? =
        try {
            message.color?.let { Color.parseColor(it) }
        } catch (ignored: IllegalArgumentException) {
            null
        }

    private fun soundOf(message: CarillonMessage): Uri? =
        message.sound?.let { Uri.parse("android.resource://${context.packageName}/raw/${it.substringBeforeLast('.')}") }

    private fun visibilityOf(message: CarillonMessage): Int =
        when (message.visibility) {
            "public" -> NotificationCompat.VISIBILITY_PUBLIC
            "secret" -> NotificationCompat.VISIBILITY_SECRET
            else -> NotificationCompat.VISIBILITY_PRIVATE
        }

    companion object {
        /** The tags of notifications differ, so their id need not. */
        const val ID = 0
    }
}
