/** Computes a grid in which all cards of the wall fit on the screen, and how much content fits on each card. */

import type { Detail, Layout } from './view.ts'

export interface Space {
  /** CSS pixels. */
  readonly width: number
  readonly height: number
}

/** Content of a card, from most to least. */
export type Step = 'full' | 'usual' | 'status' | 'name'

export interface Fit {
  readonly columns: number
  readonly rows: number
  readonly card: Space
  readonly gap: number
  /** Font size of a card in CSS pixels. All other sizes in the card are relative to it. */
  readonly unit: number
  readonly step: Step
}

/** Preferred ratio of width to height. */
const shapes: Record<Layout, number> = { grid: 1.6, list: 13 }
/** Width and height of the content of a card at each step, in units. */
const unitsWide: Record<Step, number> = { full: 15, usual: 15, status: 12, name: 9 }
const unitsHigh: Record<Step, number> = { full: 15, usual: 11.6, status: 7.8, name: 3.9 }
/** Minimum legible unit in CSS pixels. */
const minUnit: Record<Step, number> = { full: 12, usual: 10, status: 9, name: 0 }
const listStep = { wide: 46, high: 2.9 }
/** Maximum unit in CSS pixels. */
const maxUnit = 46

export function fitWall(count: number, room: Space, layout: Layout, detail: Detail): Fit {
  const gap = Math.max(2, Math.min(10, Math.round(Math.min(room.width, room.height) / 160)))
  const { columns, rows } = bestGrid(Math.max(1, count), room, gap, shapes[layout])
  const card = {
    width: (room.width - gap * (columns - 1)) / columns,
    height: (room.height - gap * (rows - 1)) / rows,
  }
  if (layout === 'list') {
    const unit = Math.min(maxUnit, card.width / listStep.wide, card.height / listStep.high)
    return { columns, rows, card, gap, unit, step: detail === 'status' ? 'status' : 'usual' }
  }
  const step = stepOf(card, detail)
  return { columns, rows, card, gap, unit: unitOf(card, step), step }
}

/** Returns the grid whose cards have room for the largest box with the preferred ratio of width to height (`shape`). */
function bestGrid(count: number, room: Space, gap: number, shape: number): { columns: number; rows: number } {
  let best = { columns: 1, rows: count, worth: -1 }
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns)
    const width = (room.width - gap * (columns - 1)) / columns
    const height = (room.height - gap * (rows - 1)) / rows
    const worth = Math.min(width / shape, height)
    if (worth > best.worth) best = { columns, rows, worth }
  }
  return best
}

/** Returns the step with the most content that is legible at this size; `detail` can only reduce the content. */
function stepOf(card: Space, detail: Detail): Step {
  const steps: readonly Step[] = ['full', 'usual', 'status', 'name']
  const from = detail === 'auto' ? 0 : steps.indexOf(detail)
  return steps.slice(from).find((step) => unitOf(card, step) >= minUnit[step]) ?? 'name'
}

function unitOf(card: Space, step: Step): number {
  return Math.min(maxUnit, card.width / unitsWide[step], card.height / unitsHigh[step])
}
