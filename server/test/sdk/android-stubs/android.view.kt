@file:Suppress("UNUSED_PARAMETER", "unused")

package android.view

open class View {
    var fitsSystemWindows: Boolean = TODO()
    fun setOnClickListener(listener: (View) -> Unit) { TODO() }
}
