// Starts the playground.

import { mount } from 'svelte'
import App from './App.svelte'
import './app.css'
import { Playground } from '../state/playground.svelte'
import { decodeState } from '../../core/address'

const target = document.getElementById('app')
const play = new Playground()
play.change(decodeState(location.hash, play.view))
void play.speak().then(() => target && mount(App, { target, props: { play } }))
