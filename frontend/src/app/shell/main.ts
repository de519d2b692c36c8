// Starts the playground.

import { mount } from 'svelte'
import App from './App.svelte'
import './app.css'
import { playground } from '../state/playground'
import { decodeState } from '../../core/address'
import { openedSnapshot } from '../state/opened-snapshot'

const target = document.getElementById('app')
const snapshot = openedSnapshot(location.pathname, document)
const props = { ...playground(), snapshot }
const { view } = props
view.change(snapshot && !location.hash ? snapshot : decodeState(location.hash || location.search, view.state))
const [, code] = /^\/r\/(\w+)/.exec(location.pathname) ?? []
const entered = code && import('./enter-room').then(({ enterRoom }) => enterRoom(code, props))
void Promise.all([view.speak(), entered]).then(() => target && mount(App, { target, props }))
