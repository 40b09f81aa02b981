"""Kinds of things of which people use one: the nouns that name a kind, and well-known names.

"We moved to Aurora" ends "we use MySQL", because both are databases, but not "we use Slack".
"""

from __future__ import annotations

import re

_KINDS = """
database: database|db|data store|datastore|main database
  = postgres|postgresql|mysql|mariadb|sqlite|mongodb|mongo|oracle|dynamodb|cassandra|aurora|rds
  | cockroachdb|supabase|firestore|firebase|snowflake|bigquery|clickhouse|neo4j|redshift|couchdb
editor: editor|ide|code editor|text editor
  = vim|neovim|nvim|emacs|vscode|vs code|visual studio code|visual studio|pycharm|zed|sublime
  | sublime text|intellij|webstorm|nano|helix|atom|cursor|xcode|android studio|eclipse|goland|rider
programming language: programming language|coding language
  = python|java|kotlin|golang|go|rust|typescript|javascript|ruby|php|c++|c#|swift|scala|elixir
  | haskell|clojure|perl|fortran|cobol|julia|matlab|f#|erlang|zig
music service: music service|music app|music streaming
  = spotify|tidal|deezer|apple music|youtube music|qobuz|soundcloud|amazon music|pandora
browser: browser|web browser
  = chrome|firefox|safari|edge|brave|opera|arc|vivaldi|chromium
operating system: operating system|os|distro
  = windows|macos|linux|ubuntu|fedora|debian|arch linux|arch|nixos|freebsd|pop os
phone: phone|smartphone
  = iphone|pixel|galaxy|fairphone|oneplus|android|samsung|xiaomi|nokia|huawei
laptop: laptop|notebook|computer
  = macbook|thinkpad|xps|surface|framework laptop|chromebook|zenbook
notes app: notes app|note-taking app|note taking app|notes tool|notebook app
  = notion|obsidian|evernote|onenote|logseq|roam|bear|joplin|apple notes|google keep|craft
team chat: chat tool|team chat|chat app
  = slack|teams|microsoft teams|discord|mattermost|zulip|rocket.chat
messenger: messenger|messaging app
  = whatsapp|signal|telegram|imessage|threema|viber|wechat
cloud: cloud|cloud provider|hosting|hoster|host|hosting provider
  = aws|azure|gcp|google cloud|heroku|vercel|netlify|hetzner|digitalocean|fly.io|linode|ovh
ci: ci|ci system|ci server|build server
  = jenkins|github actions|gitlab ci|circleci|travis|travis ci|buildkite|teamcity|drone
tracker: tracker|issue tracker|ticket system|project management tool|task manager|to-do app
  = jira|linear|asana|trello|clickup|basecamp|todoist|youtrack
framework: framework|web framework|frontend framework
  = react|vue|angular|svelte|next.js|nextjs|nuxt|django|flask|fastapi|rails|laravel|spring|express
repository host: repository host|repo host|code host
  = github|gitlab|bitbucket|gitea|codeberg
bank: bank
  = n26|sparkasse|revolut|deutsche bank|ing|monzo|barclays|hsbc|wise|chase|wells fargo|lloyds
  | commerzbank|santander|dkb|starling|nordea|dnb bank
carrier: carrier|provider|phone provider|mobile provider|internet provider|isp|operator
  = vodafone|o2|telekom|t-mobile|verizon|at&t|orange|ee|telenor|telia|comcast|1&1
car: car|vehicle|van|truck
  = golf|tesla|corolla|civic|volvo|bmw|audi|toyota|honda|ford|vw|volkswagen|skoda|kia|hyundai
  | mazda|subaru|nissan|renault|peugeot|citroen|fiat|opel|mercedes|porsche|jeep|polo|passat|prius
  | leaf|model 3|model y|ioniq|fiesta|focus|octavia|yaris|mini|dacia|seat|polestar|outback|camry
streaming service: streaming service
  = netflix|hulu|disney+|hbo max|prime video|apple tv+
assistant: ai assistant|coding assistant|chatbot
  = chatgpt|gemini|copilot|perplexity|mistral|grok
password manager: password manager
  = 1password|bitwarden|lastpass|keepass|dashlane|keepassxc
package manager: package manager
  = npm|pnpm|yarn|pip|poetry|uv|conda|pipenv|bun
infrastructure tool: infrastructure tool|iac tool
  = terraform|pulumi|cloudformation|ansible|chef|puppet|opentofu
mail service: mail service|email provider|mail provider|mail client|email client
  = gmail|outlook|protonmail|proton mail|fastmail|icloud|thunderbird|yahoo mail
message queue: message queue|queue|broker|message broker
  = kafka|rabbitmq|sqs|nats|redis streams|pulsar|activemq
monitoring: monitoring|monitoring tool|observability
  = datadog|grafana|new relic|prometheus|sentry|honeycomb|splunk
gym: gym|fitness studio
  = fitx|kieser|mcfit|planet fitness|equinox|puregym|crossfit|urban sports club
supermarket: supermarket|grocery store
  = lidl|aldi|rewe|edeka|tesco|sainsbury's|whole foods|trader joe's|costco|kiwi|rema 1000
"""


def _read() -> tuple[dict[str, str], dict[str, str]]:
    nouns: dict[str, str] = {}
    names: dict[str, str] = {}
    for block in re.split(r"\n(?=\w)", _KINDS.strip()):
        kind, _, rest = block.partition(":")
        said, _, known = rest.partition("=")
        nouns.update({noun.strip(): kind for noun in said.split("|")})
        names.update({" ".join(name.split()): kind for name in known.split("|")})
    return nouns, names


KIND_NOUNS, _NAMES = _read()
"""The nouns that name a kind -> the kind."""


def kind_of(name: str) -> str | None:
    """Return the kind of a thing by its name, with or without its model and version."""
    said = re.sub(r"^(?:(?:the|our|my|a|an|new|old) )+", "", name.lower().strip())
    parts = said.split(" ")
    for count in range(len(parts), 0, -1):
        if (kind := _NAMES.get(" ".join(parts[:count]))) is not None:
            return kind
    return None


def kind_named(noun: str) -> str | None:
    """Return the kind that a noun names: "database" for "main database"."""
    said = noun.lower().strip()
    return KIND_NOUNS.get(said) or KIND_NOUNS.get(said.rsplit(" ", 1)[-1])
