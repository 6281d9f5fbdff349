package dev.carillon.receiver

import android.content.BroadcastReceiver
import android.content.ClipData
import android.content.ClipboardManager
import android.content.Context
import android.content.Intent
import android.os.Build
import android.widget.Toast
import androidx.core.app.NotificationManagerCompat
import androidx.work.Data
import androidx.work.OneTimeWorkRequestBuilder
import androidx.work.WorkManager
import androidx.work.Worker
import androidx.work.WorkerParameters
import java.util.concurrent.TimeUnit

/** What happens to a notification without opening anything: copied from, snoozed, swiped away. */
class ActionReceiver : BroadcastReceiver() {
    override fun onReceive(context: Context, intent: Intent) {
        val message = PendingIntents.messageOf(intent) ?: return
        val button = PendingIntents.buttonOf(intent)
        if (button == null) {
            if (intent.action == CLOSED) Reports.send(context, message, "close")
            return
        }
        Reports.send(context, message, "click", button.type)
        NotificationManagerCompat.from(context).cancel(message.tag, ShowMessage.ID)
        when (intent.action) {
            COPY -> copy(context, button.value)
            SNOOZE -> snooze(context, message, button.value)
        }
    }

    private fun copy(context: Context, text: String) {
        val clipboard = context.getSystemService(Context.CLIPBOARD_SERVICE) as ClipboardManager
        clipboard.setPrimaryClip(ClipData.newPlainText(text, text))
        // Android 13 shows by itself what was copied.
        if (Build.VERSION.SDK_INT < 33) Toast.makeText(context, text, Toast.LENGTH_SHORT).show()
    }

    private fun snooze(context: Context, message: CarillonMessage, minutes: String) {
        val delay = minutes.toLongOrNull()?.coerceIn(1, MOST_MINUTES) ?: USUAL_MINUTES
        val data = Data.Builder().putAll(message.data).build()
        val work = OneTimeWorkRequestBuilder<ShowAgain>().setInitialDelay(delay, TimeUnit.MINUTES).setInputData(data)
        WorkManager.getInstance(context).enqueue(work.build())
    }

    companion object {
        const val CLOSED = "dev.carillon.receiver.CLOSED"
        const val COPY = "dev.carillon.receiver.COPY"
        const val SNOOZE = "dev.carillon.receiver.SNOOZE"
        private const val USUAL_MINUTES = 15L
        private const val MOST_MINUTES = 7L * 24 * 60
    }
}

/** The end of a snooze. Survives the process and a restart of the phone. */
class ShowAgain(context: Context, parameters: WorkerParameters) : Worker(context, parameters) {
    override fun doWork(): Result {
        val data = inputData.keyValueMap.mapNotNull { (key, value) -> (value as? String)?.let { key to it } }.toMap()
        CarillonMessage.read(data, Carillon.settings)?.let { ShowMessage(applicationContext).show(it, isAgain = true) }
        return Result.success()
    }
}
