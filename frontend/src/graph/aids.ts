// What helps to read a large graph on a page: a chunk of its own, which an embed never loads.

export { default as Legend } from './Legend.svelte'
export { default as Magnified } from './Magnified.svelte'
export { default as Minimap } from './Minimap.svelte'
export { gripAt } from './grip'
