/** Icons of the line check. Every result has a distinct shape, so that it can be recognized without colour. */

import { Check, Circle, CircleHelp, CircleX, Footprints, type LucideIcon, TriangleAlert } from 'lucide-react'
import type { Finding } from './findings.ts'
import type { CheckStatus } from './progress.ts'

const icons: Readonly<Record<CheckStatus | 'walking' | Finding['judgement'], LucideIcon>> = {
  passed: Check,
  failed: CircleX,
  open: Circle,
  walking: Footprints,
  good: Check,
  bad: TriangleAlert,
  unknown: CircleHelp,
}

export function CheckIcon({ sign }: { sign: keyof typeof icons }) {
  const Icon = icons[sign]
  return <Icon className="icon" data-sign={sign} aria-hidden="true" />
}
