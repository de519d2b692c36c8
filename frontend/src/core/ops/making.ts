// What a call that makes a tensor was told, parameter by parameter: given, or left to its default. From the signatures
// in PyTorch's documentation.

import type { Op, Tensor } from '../../api/types'

export interface Parameter {
  name: string
  /** Key of its sentence in the word lists, under `make`. */
  about: string
  /** As written, when it was. */
  given: string | null
  /** What it is when nothing is said; null where something must be. */
  usual: string | null
  /** What became of a default that depends: the dtype and device that the tensor has. */
  became: string | null
}

interface Known {
  name: string
  about: string
  usual: string | null
}

const part = (name: string, usual: string | null = null, about = name): Known => ({ name, about, usual })
const dtype = (about: string): Known => part('dtype', 'None', about)
const DEVICE = part('device', 'None')
const GRAD = part('requires_grad', 'False')
const PIN = part('pin_memory', 'False')
const GENERATOR = part('generator', 'None')
const FLOATING = [dtype('dtype'), DEVICE, GRAD, PIN]
const DRAWN = [part('size'), GENERATOR, ...FLOATING]

/** The positional parameters first, in order. `size` takes all the numbers that are left. */
const MAKERS: Readonly<Record<string, readonly Known[]>> = {
  tensor: [part('data'), dtype('dtype_of_data'), DEVICE, GRAD, PIN],
  zeros: [part('size'), dtype('dtype'), DEVICE, GRAD],
  ones: [part('size'), dtype('dtype'), DEVICE, GRAD],
  empty: [part('size'), ...FLOATING],
  rand: DRAWN,
  randn: DRAWN,
  full: [part('size'), part('fill_value'), dtype('dtype_of_data'), DEVICE, GRAD],
  eye: [part('n'), part('m', 'n'), dtype('dtype'), DEVICE, GRAD],
  arange: [part('start', '0'), part('end'), part('step', '1'), dtype('dtype_of_data'), DEVICE, GRAD],
  linspace: [part('start'), part('end'), part('steps'), dtype('dtype'), DEVICE, GRAD],
  randint: [
    part('low', '0'), part('high'), part('size'), GENERATOR, part('dtype', 'torch.int64', 'dtype_whole'), DEVICE,
    GRAD,
  ],
}
const LIKE_DTYPE = part('dtype', 'None', 'dtype_like')
const LIKE_DEVICE = part('device', 'None', 'device_like')
/** Made after a tensor: `torch.zeros_like(x)`. */
const LIKE = [part('input', null, 'like'), LIKE_DTYPE, LIKE_DEVICE, GRAD]
/** Made by a method of a tensor, which stands first among its arguments: `x.new_ones(2, 3)`. */
const NEW = [part('self', null, 'like_method'), part('size'), LIKE_DTYPE, LIKE_DEVICE, GRAD]
const KEYWORD_ONLY = new Set(['dtype', 'device', 'requires_grad', 'pin_memory', 'generator'])

export function isMaking(op: Op): boolean {
  return knownOf(op) !== undefined
}

function knownOf({ name, function: called }: Op): readonly Known[] | undefined {
  if (/^torch\.(zeros|ones|empty|rand|randn)_like$/.test(called)) return LIKE
  if (/^torch\.Tensor\.new_(zeros|ones|empty)$/.test(called)) return NEW
  return /^torch\.[a-z]+$/.test(called) ? MAKERS[name] : undefined
}

/** Its parameters in the order of the documentation; `called` names a tensor. */
export function parameters(op: Op, made: Tensor | undefined, called: (tensor: string) => string): Parameter[] {
  const known = knownOf(op) ?? []
  const given = givenTo(op, known, called)
  return known.map(({ name, about, usual }) => ({
    name, about, usual, given: given.get(name) ?? null, became: given.has(name) ? null : became(name, made),
  }))
}

function became(name: string, made: Tensor | undefined): string | null {
  if (!made) return null
  return name === 'dtype' ? made.dtype : name === 'device' ? (made.device ?? 'cpu') : null
}

function givenTo(op: Op, known: readonly Known[], called: (tensor: string) => string): Map<string, string> {
  const given = new Map<string, string>()
  const places = placesOf(op, known)
  let at = 0
  for (const argument of op.arguments) {
    const text = argument.text ?? (argument.tensor ? called(argument.tensor) : null)
    if (text === null) continue
    if (argument.name) given.set(argument.name, text)
    else {
      const name = places[Math.min(at, places.length - 1)]
      if (name) given.set(name, given.has(name) ? `${given.get(name)}, ${text}` : text)
      at += 1
    }
  }
  return given
}

/** What the positional arguments stand for: one number to `arange` is its end, two are start and end. */
function placesOf(op: Op, known: readonly Known[]): string[] {
  const names = known.map((parameter) => parameter.name).filter((name) => !KEYWORD_ONLY.has(name))
  const count = op.arguments.filter((argument) => !argument.name).length
  if (op.name === 'arange') return count === 1 ? ['end'] : names
  if (op.name === 'randint')
    return count + op.arguments.filter((argument) => argument.name === 'size').length === 2 ? ['high', 'size'] : names
  return names
}
