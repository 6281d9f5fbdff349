@file:Suppress("unused")

package com.facebook.react.uimanager

abstract class ViewManager<View, Shadow>
