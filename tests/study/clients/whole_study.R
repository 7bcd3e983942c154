# A whole experiment in R: Rscript whole_study.R CLIENT LINK TRUTH RATER...; the token is in SIMILITUDE_TOKEN
given <- commandArgs(trailingOnly = TRUE)
source(given[1])
place <- jsonlite::fromJSON(given[3])
study <- similitude_study(given[2], token = Sys.getenv("SIMILITUDE_TOKEN"))
far <- function(one, other) sum((place[[one]] - place[[other]])^2)

told <- lapply(given[-(1:3)], function(rater) {
  answered <- 0
  question <- similitude_ask(study, rater, consent = TRUE)
  while (!is.null(question)) {
    items <- question$items
    response <- if (far(items[1], items[2]) < far(items[1], items[3])) 1 else 2
    question <- similitude_tell(study, question, response, milliseconds = 800)
    answered <- answered + 1
  }
  list(rater = rater, answered = answered, code = similitude_finish(study, rater)$code)
})
found <- list(told = told)
if (similitude_state(study)$model$version > 0) {
  model <- similitude_model(study)
  found$items <- rownames(model$positions)
  found$distance <- as.matrix(model$distances)["c00", "c01"]
  found$near <- as.list(similitude_neighbors(study, "c03", 2))
  found$rows <- nrow(similitude_answers(study))
}
cat(jsonlite::toJSON(found, auto_unbox = TRUE, digits = NA))
