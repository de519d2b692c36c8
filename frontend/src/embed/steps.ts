// What tells of steps and goes on by them: it comes after the picture.

export { tell } from '../core/trace/story'
export { back, on } from '../core/trace/strides'
