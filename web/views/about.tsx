/** What Micwatch is, which one this is, and where programs find it. */

import { useHouse, useSurroundings } from '../context.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts.ts'

export function About() {
  const { mount } = useSurroundings()
  const version = useHouse((house) => house.health?.version ?? __MICWATCH_VERSION__)
  const socketUrl = `${location.origin.replace(/^http/, 'ws')}${mount}/ws`
  return (
    <>
      <TopBar current="about" />
      <main className="content prose">
        <h1>{texts.about.title}</h1>
        <p>{texts.about.what}</p>
        <dl className="pairs">
          <dt>{texts.about.version}</dt>
          <dd>{version}</dd>
          <dt>{texts.about.licence}</dt>
          <dd>{texts.about.mit}</dd>
        </dl>
        <h2>{texts.about.interface}</h2>
        <ul className="paths">
          {texts.about.paths.map(({ path, says }) => (
            <li key={path}>
              <a href={`${mount}${path}`}>
                <code>{`${mount}${path}`}</code>
              </a>{' '}
              {says}
            </li>
          ))}
        </ul>
        <p>{texts.about.socket(socketUrl)}</p>
      </main>
    </>
  )
}
