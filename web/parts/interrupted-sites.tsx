/** The sites that could not be asked for recorded levels. */

import { formatList, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

export function InterruptedSites({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <p role="status" className="history-problem">
      {t('parts.interruptedSites', { count: names.length, names: formatList(names.map(plainText)) })}
    </p>
  )
}
