package dev.carillon.receiver

import android.content.Context
import android.net.Uri
import androidx.work.Worker
import androidx.work.WorkerParameters
import androidx.work.workDataOf
import java.util.UUID
import org.json.JSONObject

/** Tells the service what became of a message: `impression`, `click`, `close`. The token that came with it is the credential. */
internal object Reports {
    fun send(context: Context, message: CarillonMessage, kind: String, action: String? = null, isLowered: Boolean = false) {
        val token = message.reportToken ?: return
        val body = JSONObject().put("token", token).put("kind", kind)
        if (action != null) body.put("action", action)
        if (isLowered) body.put("lowered", true)
        // One name for a report however often it is tried, so that it counts once.
        body.put("id", UUID.randomUUID().toString())
        val data = workDataOf(
            ReportWorker.ADDRESS to addressOf(message),
            ReportWorker.BODY to body.toString(),
            ReportWorker.MADE_AT to System.currentTimeMillis(),
        )
        Post.enqueue<ReportWorker>(context, data, uniqueName = null)
    }

    /** A message may say where to report to, but not lead the token to another host than the app's own. */
    private fun addressOf(message: CarillonMessage): String {
        val usual = "${Carillon.settings.service.removeSuffix("/")}/v1/interactions"
        val told = message.reportUrl?.let { Uri.parse(it) } ?: return usual
        val known = Uri.parse(usual)
        return if (told.scheme == known.scheme && told.authority == known.authority) told.toString() else usual
    }
}

class ReportWorker(context: Context, parameters: WorkerParameters) : Worker(context, parameters) {
    override fun doWork(): Result {
        val address = inputData.getString(ADDRESS) ?: return Result.failure()
        val body = inputData.getString(BODY) ?: return Result.failure()
        if (System.currentTimeMillis() - inputData.getLong(MADE_AT, 0) > MOST_MILLISECONDS) return Result.failure()
        return Post.once(address, body, authorization = null)
    }

    companion object {
        const val ADDRESS = "address"
        const val BODY = "body"
        const val MADE_AT = "made_at"

        /** After a week nobody asks any more. */
        private const val MOST_MILLISECONDS = 7L * 24 * 3600 * 1000
    }
}
