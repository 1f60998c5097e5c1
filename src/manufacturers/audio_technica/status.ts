/** How far each model has been verified: the table in `docs/hardware.md`. */

import type { ModelStatus } from '../../domain/equipment/model-status.ts'

export const modelStatus: readonly ModelStatus[] = [
  {
    model: 'System 20 PRO (ATW-R1440)',
    protocol: 'audio_technica',
    deviceTypes: ['system20'],
    firmware: null,
    status: 'documents',
    date: '2026-11-30',
    source: 'Audio-Technica, System 20 PRO specifications V0.0.5; public module for Companion',
    values: [],
  },
  {
    model: 'ESW-R4180DAN, ESW-R4180LK',
    protocol: 'audio_technica',
    deviceTypes: ['esw'],
    firmware: null,
    status: 'documents',
    date: '2026-11-30',
    source: 'Audio-Technica, ESW specifications V1; public module for Companion',
    values: [],
  },
  {
    model: 'ESW-CHG4, ESW-CHG5',
    protocol: 'audio_technica',
    deviceTypes: ['charger'],
    firmware: null,
    status: 'documents',
    date: '2026-11-30',
    source: 'Audio-Technica, ESW specifications V1; public module for Companion',
    values: [],
  },
]
