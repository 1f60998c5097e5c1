/** How far each model has been verified: the table in `docs/hardware.md`. */

import type { ModelStatus } from '../../domain/equipment/model-status.ts'

export const modelStatus: readonly ModelStatus[] = [
  {
    model: 'N-DR1',
    protocol: 'ndr1',
    firmware: null,
    status: 'documents',
    date: '2026-11-30',
    source: 'module for Companion, and plugin of Cue View',
    values: [],
  },
]
