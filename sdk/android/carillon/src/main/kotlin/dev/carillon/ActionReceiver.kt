package dev.carillon

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
import dev.carillon.core.CarillonMessage
import dev.carillon.core.ReceiptType
import java.util.concurrent.TimeUnit

/** Handles what users do with a notification without opening the app: copy, snooze, swipe away. */
class ActionReceiver : BroadcastReceiver() {
    override fun onReceive(context: Context, intent: Intent) {
        val message = PendingIntents.messageOf(context, intent) ?: return
        val button = PendingIntents.buttonOf(intent)
        if (button == null) {
            if (intent.action == CLOSED) Receipts.send(context, message, ReceiptType.DISMISSED)
            return
        }
        Receipts.send(context, message, ReceiptType.CLICKED, button.type)
        NotificationManagerCompat.from(context).cancel(message.tag, ShowMessage.ID)
        when (intent.action) {
            COPY -> copy(context, button.value)
            SNOOZE -> snooze(context, message, button.value)
        }
    }

    private fun copy(context: Context, text: String) {
        val clipboard = context.getSystemService(Context.CLIPBOARD_SERVICE) as ClipboardManager
        clipboard.setPrimaryClip(ClipData.newPlainText(text, text))
        // Android 13 shows what was copied.
        if (Build.VERSION.SDK_INT < 33) Toast.makeText(context, text, Toast.LENGTH_SHORT).show()
    }

    private fun snooze(context: Context, message: CarillonMessage, minutes: String) {
        val delay = minutes.toLongOrNull()?.coerceIn(1, MAX_MINUTES) ?: DEFAULT_MINUTES
        val data = Data.Builder().putAll(message.data).build()
        val work = OneTimeWorkRequestBuilder<ShowAgain>().setInitialDelay(delay, TimeUnit.MINUTES).setInputData(data)
        WorkManager.getInstance(context).enqueue(work.build())
    }

    companion object {
        const val CLOSED = "dev.carillon.CLOSED"
        const val COPY = "dev.carillon.COPY"
        const val SNOOZE = "dev.carillon.SNOOZE"
        private const val DEFAULT_MINUTES = 15L
        private const val MAX_MINUTES = 7L * 24 * 60
    }
}

/** The end of a snooze. Survives the process and a restart of the phone. */
class ShowAgain(context: Context, parameters: WorkerParameters) : Worker(context, parameters) {
    override fun doWork(): Result {
        val data = inputData.keyValueMap.mapNotNull { (key, value) -> (value as? String)?.let { key to it } }.toMap()
        val options = CarillonOptions.read(applicationContext)
        val message = CarillonMessage.read(data, options.format) ?: return Result.success()
        // The user signed out meanwhile.
        if (!Carillon.core(applicationContext).isHushed) ShowMessage(applicationContext, options).showAgain(message)
        return Result.success()
    }
}
