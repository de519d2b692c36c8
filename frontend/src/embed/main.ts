// Starts the embed: graph and player of a stored run, in a frame on a course page.

import { mount } from 'svelte'
import '../app/app.css'
import Embed from './Embed.svelte'

const target = document.getElementById('embed')
if (target) mount(Embed, { target })
