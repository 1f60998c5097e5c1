import type { Problem } from '../app/api.ts'
import { t } from '../app/i18n.ts'

/** A browser sends an empty file if none was chosen. */
export function fileProblem(values: FormData): Problem | null {
  const file = values.get('file')
  if (file instanceof File && file.size > 0) return null
  return { kind: 'refused', field: 'file', detail: t('frequencies.scans.fileExpected') }
}
