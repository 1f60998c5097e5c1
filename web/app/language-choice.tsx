/** A choice reloads the page. */

import { Languages } from 'lucide-react'
import { useId } from 'react'
import { chosenLanguage, isUnconfirmed, languages, rememberLanguage, t } from './i18n.ts'

export function LanguageChoice() {
  const id = useId()
  const change = (value: string) => {
    rememberLanguage(value === '' ? null : value)
    location.reload()
  }
  return (
    <>
      <p className="language-choice">
        <Languages className="icon" aria-hidden="true" />
        <label htmlFor={id}>{t('about.language')}</label>
        <select
          id={id}
          className="choice"
          value={chosenLanguage ?? ''}
          onChange={(event) => change(event.target.value)}
        >
          <option value="">{t('about.asInBrowser')}</option>
          {languages.map((language) => (
            <option key={language} value={language} lang={language}>
              {ownName(language)}
            </option>
          ))}
        </select>
      </p>
      {isUnconfirmed ? <p className="hint">{t('about.unconfirmed')}</p> : null}
    </>
  )
}

function ownName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
}
