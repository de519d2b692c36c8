// Starts the playground.

import { mount } from 'svelte'
import App from './App.svelte'
import './app.css'
import { playground } from '../state/playground'
import { decodeState } from '../../core/address'

const target = document.getElementById('app')
const props = playground()
const { view } = props
view.change(decodeState(location.hash, view.state))
void view.speak().then(() => target && mount(App, { target, props }))
