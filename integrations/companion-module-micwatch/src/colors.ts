/** Colors of buttons, those of Micwatch's dark pages. */

import { combineRgb } from '@companion-module/base'
import type { Look } from './view.ts'

export interface ButtonColors {
  readonly bgcolor: number
  readonly color: number
}

const white = combineRgb(255, 255, 255)

export const buttonColors: Readonly<Record<Look, ButtonColors>> = {
  ok: { bgcolor: combineRgb(18, 55, 42), color: combineRgb(201, 242, 222) },
  info: { bgcolor: combineRgb(23, 73, 127), color: white },
  warning: { bgcolor: combineRgb(240, 176, 60), color: combineRgb(26, 17, 0) },
  critical: { bgcolor: combineRgb(201, 33, 27), color: white },
  off: { bgcolor: combineRgb(30, 34, 40), color: combineRgb(169, 178, 188) },
  offline: { bgcolor: combineRgb(60, 60, 60), color: combineRgb(140, 140, 140) },
}
