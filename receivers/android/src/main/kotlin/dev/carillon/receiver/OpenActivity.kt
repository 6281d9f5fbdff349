package dev.carillon.receiver

import android.app.Activity
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import androidx.core.app.NotificationManagerCompat

/** What a tap starts: reports it, opens what the message says, and is gone before anybody sees it. */
class OpenActivity : Activity() {
    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        val message = PendingIntents.messageOf(intent)
        // Not null after the screen was turned, or the activity was brought back: the tap was counted.
        if (message != null && state == null) {
            val button = PendingIntents.buttonOf(intent)
            Reports.send(this, message, "click", button?.type)
            // A button does not take its notification away by itself.
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
