/** How far each model has been verified: the table in `docs/hardware.md`. */

import type { ModelStatus } from '../../domain/equipment/model-status.ts'

export const modelStatus: readonly ModelStatus[] = [
  {
    model: 'DSQD',
    protocol: 'dsqd',
    firmware: null,
    status: 'documents',
    date: '2026-11-30',
    source: 'Lectrosonics, DSQD Command Reference (July 2019)',
    values: [],
  },
]
