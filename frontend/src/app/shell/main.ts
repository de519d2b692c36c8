// Starts the playground.

import { mount } from 'svelte'
import App from './App.svelte'
import './app.css'
import { playground } from '../state/playground'
import { decodeState } from '../../core/address'
import { openedSnapshot } from '../state/share'

const target = document.getElementById('app')
const snapshot = openedSnapshot(location.pathname, document)
const props = { ...playground(), snapshot }
const { view, runner } = props
view.change(snapshot && !location.hash ? snapshot : decodeState(location.hash, view.state))
const [, code] = /^\/r\/(\w+)/.exec(location.pathname) ?? []
const entered = code && import('./enter-room').then(({ enterRoom }) => enterRoom(code, props))
/** What is to be shown is asked for before the page's own parts, or it waits behind them. */
const begin = () => void runner.start({})
if (entered) void entered.then(begin)
else begin()
void Promise.all([view.speak(), entered]).then(() => target && mount(App, { target, props }))
