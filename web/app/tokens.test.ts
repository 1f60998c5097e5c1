/** Checks the colours of every theme: contrast as WCAG 2.2 AA requires, and states that do not depend on red and green. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { slotColors } from '../../src/contract/values.ts'

const folder = new URL('../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const sheet = read('app/tokens.css')

type Colours = ReadonlyMap<string, string>

/** Returns the colours that all rules with exactly this selector define outside of media queries. */
function coloursOf(selector: string): [name: string, colour: string][] {
  const rules = sheet.split('\n}\n').filter((rule) => rule.includes(`\n${selector} {\n`))
  return rules.flatMap((rule) =>
    [...rule.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', colour = '']): [string, string] => [
      name,
      colour,
    ]),
  )
}

const dark: Colours = new Map(coloursOf(':root'))
const themes: readonly (readonly [name: string, colours: Colours])[] = [
  ['dark', dark],
  ['light', new Map([...dark, ...coloursOf(":root[data-theme='light']")])],
  ['contrast', new Map([...dark, ...coloursOf(":root[data-theme='contrast']")])],
]

type Rgb = readonly [red: number, green: number, blue: number]

/** Linear light, 0 to 1. */
function linear(colour: string): Rgb {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((start) => Number.parseInt(colour.slice(start, start + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return [red, green, blue]
}

const dot = ([a, b, c]: Rgb, [x, y, z]: Rgb) => a * x + b * y + c * z
const luminance = (colour: Rgb) => dot([0.2126, 0.7152, 0.0722], colour)

function contrast(a: Rgb, b: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

/** The colour as a person with deuteranopia sees it (Viénot, Brettel and Mollon, 1999). */
function deuteranopia(colour: Rgb): Rgb {
  const clamp = (value: number) => Math.min(1, Math.max(0, value))
  return [
    clamp(dot([0.29275, 0.70725, 0], colour)),
    clamp(dot([0.29275, 0.70725, 0], colour)),
    clamp(dot([-0.02234, 0.02234, 1], colour)),
  ]
}

const surfaces = ['page', 'bar', 'card', 'raised', 'sunken'].map((name) => `surface-${name}`)
const tones = ['ok', 'info', 'warning', 'critical']

describe.each(themes)('the %s theme', (_name, colours) => {
  const find = (name: string): Rgb => {
    const colour = colours.get(name)
    if (colour === undefined) throw new Error(`No colour --${name}.`)
    return linear(colour)
  }
  /** Returns the pairs whose contrast is below `least`. */
  const below = (least: number, foregrounds: readonly string[], backgrounds: readonly string[]) =>
    foregrounds.flatMap((foreground) =>
      backgrounds
        .filter((background) => contrast(find(foreground), find(background)) < least)
        .map((background) => `${foreground} on ${background}`),
    )

  it('has legible texts on every surface', () => {
    const backgrounds = [...surfaces, 'surface-hover', 'surface-selected', 'button', 'button-hover']
    expect(below(4.5, ['text', 'text-soft'], backgrounds)).toEqual([])
    expect(below(4.5, ['accent', 'idle-icon', ...tones.map((tone) => `${tone}-icon`)], surfaces)).toEqual([])
    expect(below(4.5, ['on-primary'], ['primary', 'primary-hover'])).toEqual([])
    expect(below(4.5, ['on-accent'], ['accent'])).toEqual([])
  })

  it('has legible texts on the tile of every state', () => {
    for (const tone of [...tones, 'past']) expect(below(4.5, [`on-${tone}-tile`], [`${tone}-tile`])).toEqual([])
  })

  it('has visible edges, outlines and meters', () => {
    expect(
      below(
        3,
        [...tones, 'past'].map((tone) => `${tone}-edge`),
        surfaces,
      ),
    ).toEqual([])
    expect(below(3, ['line-strong', 'focus'], surfaces)).toEqual([])
    const marks = slotColors.map((color) => `slot-${color}`)
    expect(below(3, marks, surfaces)).toEqual([])
    const bars = ['rf', 'rf-fair', 'rf-weak', 'audio', 'audio-high', 'audio-over', 'peak'].map((bar) => `meter-${bar}`)
    expect(below(2, bars, ['meter-track'])).toEqual([])
  })

  it('distinguishes problems by lightness for people who see no difference between red and green', () => {
    const [card, warning, critical] = ['surface-card', 'warning-tile', 'critical-tile'].map((name) =>
      deuteranopia(find(name)),
    ) as [Rgb, Rgb, Rgb]
    expect(contrast(warning, critical)).toBeGreaterThan(2)
    expect(contrast(warning, card)).toBeGreaterThan(1.5)
    expect(contrast(critical, card)).toBeGreaterThan(1.5)
  })
})

it('keeps colour values out of all other style sheets', () => {
  const others = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.css') && name !== 'app/tokens.css',
  )
  expect(others.length).toBeGreaterThan(10)
  const literal = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|lab)\(|: (?:white|black)\b/i
  expect(
    others.flatMap((name) =>
      read(name)
        .split('\n')
        .filter((line) => literal.test(line)),
    ),
  ).toEqual([])
})
