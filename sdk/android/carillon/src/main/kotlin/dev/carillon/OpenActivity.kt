package dev.carillon

import android.app.Activity
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import androidx.core.app.NotificationManagerCompat
import dev.carillon.core.ReceiptType

/** Started by a tap: reports it, opens the target of the message, and finishes before it is visible. */
class OpenActivity : Activity() {
    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        val message = PendingIntents.messageOf(this, intent)
        // The state is not null if the activity was recreated: the tap was counted.
        if (message != null && state == null) {
            val button = PendingIntents.buttonOf(intent)
            Receipts.send(this, message, ReceiptType.CLICKED, button?.type)
            // Android does not remove a notification whose button was tapped.
            NotificationManagerCompat.from(this).cancel(message.tag, ShowMessage.ID)
            when (button?.type) {
                "call" -> Targets.start(this, Intent(Intent.ACTION_DIAL, Uri.fromParts("tel", button.value, null)))
                "share" -> Targets.start(this, shareIntent(button.value))
                else -> Targets.open(this, message.target, message.pairs)
            }
        }
        finish()
    }

    private fun shareIntent(text: String): Intent {
        val intent = Intent(Intent.ACTION_SEND).setType("text/plain").putExtra(Intent.EXTRA_TEXT, text)
        return Intent.createChooser(intent, null)
    }
}
