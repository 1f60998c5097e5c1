/** How far each model has been verified: the table in `docs/hardware.md`. */

import type { ModelStatus } from '../../domain/equipment/model-status.ts'

const row = {
  protocol: 'clearcom',
  firmware: null,
  status: 'documents',
  date: '2026-11-30',
  source: 'Clear-Com, API description 1.0.1 with JSON schemas; two modules for Companion',
  values: [],
} as const

export const modelStatus: readonly ModelStatus[] = [
  { ...row, model: 'Arcadia', models: /Arcadia/i },
  { ...row, model: 'FreeSpeak II Base II', models: /Base.?II|FS.?II|FreeSpeak.?II/i },
  { ...row, model: 'FreeSpeak Edge', models: /Edge/i },
]
