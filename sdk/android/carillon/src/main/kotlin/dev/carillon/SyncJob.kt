package dev.carillon

import android.content.Context
import androidx.work.BackoffPolicy
import androidx.work.Constraints
import androidx.work.ExistingWorkPolicy
import androidx.work.NetworkType
import androidx.work.OneTimeWorkRequestBuilder
import androidx.work.WorkManager
import androidx.work.Worker
import androidx.work.WorkerParameters
import java.util.concurrent.TimeUnit

/** Sends what waits when there is a network, also after the process ended or the phone restarted. */
class SyncJob(context: Context, parameters: WorkerParameters) : Worker(context, parameters) {
    override fun doWork(): Result {
        val core = Carillon.core(applicationContext)
        core.online()
        // WorkManager stops a job after ten minutes; a request takes half a minute at most.
        return if (core.sync().get() == null) Result.success() else Result.retry()
    }

    companion object {
        fun enqueue(context: Context) {
            val work = OneTimeWorkRequestBuilder<SyncJob>()
                .setConstraints(Constraints.Builder().setRequiredNetworkType(NetworkType.CONNECTED).build())
                .setBackoffCriteria(BackoffPolicy.EXPONENTIAL, FIRST_PAUSE_SECONDS, TimeUnit.SECONDS)
                .build()
            // One that waits or runs sends everything.
            WorkManager.getInstance(context).enqueueUniqueWork("carillon-sync", ExistingWorkPolicy.KEEP, work)
        }

        private const val FIRST_PAUSE_SECONDS = 30L
    }
}
