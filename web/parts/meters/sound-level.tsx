import { formatDbfs } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { audioShare } from '../../app/scale.ts'

export function SoundLevel({ dbfs }: { readonly dbfs: number | null }) {
  return (
    <>
      <progress value={dbfs === null ? 0 : audioShare(dbfs)} aria-hidden="true" />
      <span>{dbfs === null ? t('card.none') : formatDbfs(Math.round(dbfs))}</span>
    </>
  )
}
