@file:Suppress("UNUSED_PARAMETER", "unused")

package androidx.work

import android.content.Context
import java.util.concurrent.TimeUnit

class WorkerParameters

abstract class ListenableWorker {
    open class Result {
        companion object {
            fun success(): Result = TODO()
            fun retry(): Result = TODO()
        }
    }
}

abstract class Worker(context: Context, parameters: WorkerParameters) : ListenableWorker() {
    val applicationContext: Context get() = TODO()
    val inputData: Data get() = TODO()
    abstract fun doWork(): Result
}

class Data {
    val keyValueMap: Map<String, Any> get() = TODO()

    class Builder {
        fun putAll(values: Map<String, Any>): Builder = TODO()
        fun build(): Data = TODO()
    }
}

enum class NetworkType { CONNECTED }

enum class BackoffPolicy { EXPONENTIAL }

enum class ExistingWorkPolicy { KEEP }

class Constraints {
    class Builder {
        fun setRequiredNetworkType(type: NetworkType): Builder = TODO()
        fun build(): Constraints = TODO()
    }
}

class OneTimeWorkRequest {
    class Builder {
        fun setConstraints(constraints: Constraints): Builder = TODO()
        fun setBackoffCriteria(policy: BackoffPolicy, pause: Long, unit: TimeUnit): Builder = TODO()
        fun setInitialDelay(delay: Long, unit: TimeUnit): Builder = TODO()
        fun setInputData(data: Data): Builder = TODO()
        fun build(): OneTimeWorkRequest = TODO()
    }
}

inline fun <reified W : ListenableWorker> OneTimeWorkRequestBuilder(): OneTimeWorkRequest.Builder = TODO()

class WorkManager {
    fun enqueue(work: OneTimeWorkRequest) { TODO() }
    fun enqueueUniqueWork(name: String, policy: ExistingWorkPolicy, work: OneTimeWorkRequest) { TODO() }

    companion object {
        fun getInstance(context: Context): WorkManager = TODO()
    }
}
