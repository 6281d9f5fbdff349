package dev.carillon.receiver

import android.content.Context
import androidx.work.BackoffPolicy
import androidx.work.Constraints
import androidx.work.Data
import androidx.work.ExistingWorkPolicy
import androidx.work.ListenableWorker
import androidx.work.NetworkType
import androidx.work.OneTimeWorkRequestBuilder
import androidx.work.WorkManager
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.concurrent.TimeUnit

/** Sends JSON when there is a network, and again, later and later, until it has arrived. */
internal object Post {
    private const val MILLISECONDS = 15_000
    private const val FIRST_PAUSE_SECONDS = 30L

    inline fun <reified W : ListenableWorker> enqueue(context: Context, data: Data, uniqueName: String?) {
        val work = OneTimeWorkRequestBuilder<W>()
            .setInputData(data)
            .setConstraints(Constraints.Builder().setRequiredNetworkType(NetworkType.CONNECTED).build())
            .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, FIRST_PAUSE_SECONDS, TimeUnit.SECONDS)
            .build()
        val manager = WorkManager.getInstance(context)
        if (uniqueName == null) {
            manager.enqueue(work)
        } else {
            manager.enqueueUniqueWork(uniqueName, ExistingWorkPolicy.REPLACE, work)
        }
    }

    fun once(address: String, body: String, authorization: String?): ListenableWorker.Result =
        try {
            resultOf(statusOf(address, body, authorization))
        } catch (ignored: IOException) {
            ListenableWorker.Result.retry()
        }

    /** What is refused now is refused for ever, but for "too late" and "too much". */
    private fun resultOf(status: Int): ListenableWorker.Result =
        when {
            status in 200..299 -> ListenableWorker.Result.success()
            status == 408 || status == 429 || status >= 500 -> ListenableWorker.Result.retry()
            else -> ListenableWorker.Result.failure()
        }

    private fun statusOf(address: String, body: String, authorization: String?): Int {
        val connection = URL(address).openConnection() as HttpURLConnection
        try {
            connection.requestMethod = "POST"
            connection.connectTimeout = MILLISECONDS
            connection.readTimeout = MILLISECONDS
            connection.instanceFollowRedirects = false
            connection.doOutput = true
            connection.setRequestProperty("Content-Type", "application/json")
            if (authorization != null) connection.setRequestProperty("Authorization", authorization)
            connection.outputStream.use { it.write(body.toByteArray()) }
            return connection.responseCode
        } finally {
            connection.disconnect()
        }
    }
}
