// Lines of a program that choose devices, and which words of that world they use.

import type { Transfer } from '../../api/types'

const WORDS = [
  ['CUDA', /cuda/i],
  ['cuDNN', /cudnn/i],
  ['nvidia-smi', /nvidia-smi/],
] as const

/** Ops that only bring a tensor to a device. */
export const MOVES = new Set(['to', 'cuda', 'cpu'])

/** From where to where a copy went. */
export function wayOf({ origin, to }: Transfer): string {
  return `${deviceName(origin || (to === 'cpu' ? 'cuda' : 'cpu'))} → ${deviceName(to)}`
}

function deviceName(device: string): string {
  return device === 'cpu' ? 'CPU' : device === 'cuda' ? 'GPU' : device
}

/** Whether a line speaks of GPUs. */
export function isAboutDevices(code: string): boolean {
  return glossary(code).length > 0
}

/** The words of the glossary that a line uses. */
export function glossary(code: string): string[] {
  const plain = code.replace(/#.*$/, '')
  return WORDS.filter(([, pattern]) => pattern.test(plain)).map(([word]) => word)
}

/** What a line sets `CUDA_VISIBLE_DEVICES` to; null when it does not, or not to a text written there. */
export function visibleDevices(code: string): string | null {
  return /CUDA_VISIBLE_DEVICES["']?\s*\]?\s*[=,:]\s*["']([^"']*)["']/.exec(code)?.[1] ?? null
}
