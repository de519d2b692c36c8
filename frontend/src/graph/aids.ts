// What helps to read a large graph on a page: a chunk of its own, which an embed never loads.

export { default as Aids } from './Aids.svelte'
export { default as Legend } from './Legend.svelte'
export { default as Notes } from './Notes.svelte'
export { default as Veil } from './Veil.svelte'
